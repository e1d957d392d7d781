"""A wheel's tag says which glibc it needs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "python/tag_wheel.py"
NAME = "zellige-0.1.0-py3-none-linux_x86_64.whl"


def wheel(folder, files):
    """A wheel of these files, with what every wheel says of itself."""
    about = "zellige-0.1.0.dist-info/"
    contents = {name: pathlib.Path(file).read_bytes() for name, file in files.items()}
    contents[about + "WHEEL"] = b"Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
    contents[about + "METADATA"] = b"Metadata-Version: 2.1\nName: zellige\nVersion: 0.1.0\n"
    rows = [f"{n},sha256={urlsafe_b64encode(sha256(c).digest()).decode().rstrip('=')},{len(c)}\n" for n, c in contents.items()]
    with zipfile.ZipFile(folder / NAME, "w") as whole:
        for name, content in contents.items():
            whole.writestr(name, content)
        whole.writestr(about + "RECORD", "".join([*rows, about + "RECORD,,\n"]))
    return folder / NAME


def tagged(file):
    return subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True)


@pytest.fixture
def tools():
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    pytest.importorskip("wheel", reason="the package wheel is not installed")


def test_the_tag_is_what_the_library_needs(tmp_path, tools):
    import zellige

    packaged = os.path.join(os.path.dirname(zellige.__file__), "libzellige.so")
    library = os.path.realpath(os.environ.get("ZELLIGE_LIBRARY") or packaged)
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    newest = max(int(n) for n in re.findall(r"@GLIBC_2\.(\d+)", symbols))
    done = tagged(wheel(tmp_path, {"zellige/libzellige.so": library}))
    assert done.returncode == 0, done.stderr
    name = NAME.replace("linux", f"manylinux_2_{newest}")
    assert done.stdout == f"{tmp_path / name}\n" and os.listdir(tmp_path) == [name]
    assert f"Tag: py3-none-manylinux_2_{newest}_x86_64" in zipfile.ZipFile(tmp_path / name).read("zellige-0.1.0.dist-info/WHEEL").decode()


def test_what_is_refused(tmp_path, tools):
    (tmp_path / "module.py").write_text("1\n")
    empty = wheel(tmp_path, {"zellige/module.py": tmp_path / "module.py"})
    assert tagged(empty).stderr == f"{NAME}: expected executables or libraries in it, found none\n"
    assert tagged("zellige-any.whl").stderr == "zellige-any.whl: expected a wheel for linux, NAME-linux_x86_64.whl\n"
    if not shutil.which("g++"):
        pytest.skip("there is no g++")
    (tmp_path / "a.cpp").write_text("#include <iostream>\nvoid f() { std::cout << 1; }\n")
    subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "a.cpp", "-o", tmp_path / "a.so"], check=True)
    stderr = tagged(wheel(tmp_path, {"zellige/a.so": tmp_path / "a.so"})).stderr
    assert stderr == "a.so: expected libraries of glibc alone, found that it needs libstdc++.so.6\n"
