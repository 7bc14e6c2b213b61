#!/usr/bin/env python3
"""Tests the .deb that cpack makes of a build, unpacked in a folder: its name and conflict, that its tool compiles and runs a model and
loads nothing that the .deb lacks, and that manual pages and completion scripts are in it.

    archive_test.py BUILD
"""
import glob
import os
import subprocess
import sys
import tempfile

import closed
import models


def call(*command):
    return subprocess.run(command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        # Uncompressed, to save time.
        call("cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-G", "DEB", "-B", folder,
             "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none")
        package, = glob.glob(os.path.join(folder, "pcc-dataflow_*_amd64.deb"))
        fields = call("dpkg-deb", "--field", package, "Package", "Conflicts", "Depends")
        assert "Package: pcc-dataflow\n" in fields and "Conflicts: pcc\n" in fields and "libc6 (>= " in fields, fields
        root = os.path.join(folder, "root")
        call("dpkg-deb", "--extract", package, root)
        model, _ = models.gpt2(folder, hidden=64, vocabulary=500)
        tool, bundle = os.path.join(root, "usr", "bin", "pcc"), os.path.join(folder, "b.pcc")
        call(tool, model, "--tp", "2", "--dim", "batch=2", "--dim", "seq=4", "-o", bundle)
        call(tool, "run", bundle, "--comm", "thread", "--random-inputs", "1", "--output", os.path.join(folder, "out"))
        assert os.listdir(os.path.join(folder, "out"))
        tree = os.path.join(root, "usr", "lib", "pcc-dataflow")
        closed.check_closed(tree, [os.path.join(bundle, "rank-000")])
        closed.check_notices(os.path.join(tree, "notices"))
        assert os.path.samefile(os.path.join(root, "usr/share/doc/pcc-dataflow/copyright"), os.path.join(tree, "notices", "copyright"))
        share = os.path.join(root, "usr", "share")
        for page in "man/man1/pcc.1", "man/man1/pcc-run.1", "bash-completion/completions/pcc", "zsh/vendor-completions/_pcc":
            assert os.path.getsize(os.path.join(share, page)), page


if __name__ == "__main__":
    main(sys.argv[1])
