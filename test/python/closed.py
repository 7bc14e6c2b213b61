"""Checks of a package of pcc that lies in a folder: it is complete, and it holds the notices of what it contains."""
import os
import re
import subprocess

# Libraries that a package takes from the system: those of glibc and of the C++ runtime.
OF_SYSTEM = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so")
# Source packages of what every package contains, some of it linked into libpcc.so or into the objects for bundles.
CONTAINED = ("llvm-toolchain-22", "onednn", "ocl-icd", "gcc-12", "glibc", "zlib", "libzstd", "libsodium", "cli11", "libdevice.10.bc")


def loaded(file):
    """Returns the paths of the libraries that a program or a library loads, by name; None for one that is not found."""
    lines = subprocess.run(["ldd", file], text=True, capture_output=True, check=True).stdout
    return {name: path if path.startswith("/") else None for name, path in re.findall(r"(\S+) => (.*?)(?: \(|$)", lines, re.M)}


def check_closed(package, made=()):
    """Checks that the programs and libraries of `package`, and the files `made`, load nothing but files of `package` and OF_SYSTEM."""
    for file in [os.path.join(package, "bin", "pcc"), os.path.join(package, "lib", "libpcc.so"), *made]:
        libraries = loaded(file)
        assert libraries, file
        for name, path in libraries.items():
            own = path and os.path.realpath(path).startswith(os.path.realpath(package) + "/")
            assert own or OF_SYSTEM.match(name), f"{file} loads {name} from {path}"


def check_notices(folder):
    """Checks that the list of notices names all that is contained, and that each notice is there."""
    with open(os.path.join(folder, "copyright"), encoding="utf-8") as file:
        names = re.findall(r"^ +(\S+)\.txt$", file.read(), re.M)
    assert set(CONTAINED) <= set(names), names
    for name in names:
        assert os.path.getsize(os.path.join(folder, name + ".txt")) > 200, name
