#!/usr/bin/env python3
"""Writes the licences of what others have made and a package of pcc contains: one file per source package of Debian, the
licence texts to which those refer, NVIDIA's licence of its device library, and the file `copyright`, which lists them.

    notices.py FOLDER FILE...

FILEs are shared libraries, archives and objects of others. The packages of header-only libraries are those of the section
`libraries of pcc` in tools/dev/packages.txt. A notice that cannot be found is an error.
"""
import pathlib
import re
import shutil
import subprocess
import sys

PACKAGES = pathlib.Path(__file__).parents[1] / "dev" / "packages.txt"
DOCUMENTS, LICENCES = pathlib.Path("/usr/share/doc"), pathlib.Path("/usr/share/common-licenses")
HEAD = """pcc compiles a model graph into one program per rank, and runs and trains those programs.
This package contains, or its programs contain, code of others. The files beside this one hold their notices:

"""


def declared():
    """Returns the Debian packages of the libraries that pcc is compiled with."""
    section = re.search(r"^# libraries of pcc$(.*?)^#", PACKAGES.read_text("utf-8"), re.M | re.S)
    return section[1].split()


def query(*words):
    """Returns the lines that dpkg-query prints, none if it fails."""
    return subprocess.run(["dpkg-query", *words], text=True, capture_output=True, check=False).stdout.splitlines()


def owner(file):
    """Returns the Debian package of a file, None if it is of none. Debian lists some files by a path without /usr."""
    real = file.resolve()
    for path in (real, file, pathlib.Path("/", *real.parts[2:])):
        for line in query("--search", str(path)):
            return line.split(":")[0]
    return None


def source(package):
    """Returns the name of the source package."""
    return query("--show", "--showformat=${source:Package}", package)[0]


def notice_beside(file):
    """Returns the licence of a file of NVIDIA's: that of the toolkit, or of the wheel that brought the file."""
    for folder in file.resolve().parents:
        for pattern in ("EULA.txt", "*nvvm*.dist-info/**/License.txt", "dist-info/*nvvm*.dist-info/**/License.txt"):
            for found in folder.glob(pattern) if folder != folder.parent else ():
                return found
    return None


def collect(files):
    """Returns the paths of the notices by name; None for a notice that is not found."""
    owners = {file: owner(file) for file in files}
    packages = {*declared(), *filter(None, owners.values())}
    notices = {source(package): DOCUMENTS / package / "copyright" for package in sorted(packages)}
    notices |= {file.name: notice_beside(file) for file, package in owners.items() if not package}
    return notices


def referred(text):
    """Returns the common licences that a notice names by path."""
    return {LICENCES / name for name in re.findall(rf"{LICENCES}/([\w.-]*\w)", text) if (LICENCES / name).exists()}


def write(folder, notices):
    folder.mkdir(parents=True)
    texts = set()
    for name, notice in sorted(notices.items()):
        shutil.copyfile(notice, folder / f"{name}.txt")
        texts |= referred(notice.read_text("utf-8", "replace"))
    for text in texts:
        shutil.copyfile(text, folder / f"{text.name}.txt")
    names = sorted({*notices, *(text.name for text in texts)})
    (folder / "copyright").write_text(HEAD + "".join(f"    {name}.txt\n" for name in names), "utf-8")


def main(folder, *files):
    notices = collect([pathlib.Path(file) for file in files])
    missing = [name for name, notice in notices.items() if not (notice and notice.exists())]
    if missing:
        sys.exit(f"notices: no licence is found of {', '.join(missing)}")
    write(pathlib.Path(folder), notices)


if __name__ == "__main__":
    main(*sys.argv[1:])
