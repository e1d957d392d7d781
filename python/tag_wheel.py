"""Renames a wheel for Linux after the oldest glibc on which it runs: manylinux_2_N (PEP 600) in place of linux.

    pip wheel . --no-deps && python python/tag_wheel.py zellige-0.1.0-py3-none-linux_x86_64.whl

The glibc version is read, by readelf of binutils, from the executables and libraries in the wheel. A wheel that needs a
library other than glibc's is refused, because a machine need not have it.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

GLIBC = re.compile(r"^(lib(c|m|dl|rt|pthread)|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+$")


def glibc_of(file) -> int:
    """Returns N of the newest symbol version GLIBC_2.N that an ELF file needs. Ends the process if the file needs
    a library that is not part of glibc."""
    told = subprocess.run(["readelf", "-dVW", str(file)], capture_output=True, text=True, check=True).stdout
    for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", told):
        if not GLIBC.match(needed):
            sys.exit(f"{pathlib.Path(file).name}: expected libraries of glibc alone, found that it needs {needed}")
    return max((int(n) for n in re.findall(r"Name: GLIBC_2\.(\d+)", told)), default=0)


def main(path):
    """Renames the wheel at `path` and prints its new path. Ends the process with a message if it is no wheel for
    Linux."""
    wheel = pathlib.Path(path)
    if not re.search(r"-linux_\w+\.whl$", wheel.name):
        sys.exit(f"{wheel.name}: expected a wheel for linux, NAME-linux_x86_64.whl")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as whole:
        whole.extractall(folder)
        files = [f for f in pathlib.Path(folder).rglob("*") if f.is_file() and f.read_bytes()[:4] == b"\x7fELF"]
        newest = max((glibc_of(f) for f in files), default=0)
    if newest == 0:
        sys.exit(f"{wheel.name}: expected executables or libraries in it, found none")
    tag = f"manylinux_2_{newest}" + re.search(r"-linux(_\w+)\.whl$", wheel.name).group(1)
    done = subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, wheel], capture_output=True, text=True)
    sys.exit(done.stderr if done.returncode else print(wheel.with_name(done.stdout.strip())))


if __name__ == "__main__":
    main(*sys.argv[1:])
