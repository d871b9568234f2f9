"""What pip installs for the user from an environment's Python can be replaced and removed, as in the image."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from installing import wheel

from sandglass_supervisor import user_packages


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment like that of the image, with a pip of its own."""
    folder = tmp_path_factory.mktemp("env")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(folder)], check=True)
    subprocess.run([folder / "bin" / "python", user_packages.__file__], check=True)
    return folder / "bin" / "python"


def run(python: Path, home: Path, *words: str) -> str:
    variables = {"PATH": os.defpath, "HOME": str(home), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
    done = subprocess.run([python, *words], cwd=home, env=variables, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install(python: Path, home: Path, name: str, version: str) -> str:
    path = home / f"{name}-{version}-py3-none-any.whl"
    path.write_bytes(wheel(name, version, f"word = '{version}'\n", {f"{name}_of_{version[0]}.py": ""}))
    return run(python, home, "-m", "pip", "install", "--user", str(path))


@pytest.mark.slow
def test_another_version_takes_the_place(python: Path, tmp_path: Path) -> None:
    for version in ("1.0", "2.0", "1.0"):
        assert f"Successfully installed turned-{version}" in install(python, tmp_path, "turned", version)
        asked = "import turned; from importlib.metadata import version; print(turned.word, version('turned'))"
        assert run(python, tmp_path, "-c", asked) == f"{version} {version}\n"
        known = sorted(path.name for path in tmp_path.glob(".local/lib/python3*/site-packages/turned*"))
        assert known == [f"turned-{version}.dist-info", "turned.py", f"turned_of_{version[0]}.py"]


@pytest.mark.slow
def test_it_can_be_removed(python: Path, tmp_path: Path) -> None:
    install(python, tmp_path, "gone", "1.0")
    assert "Successfully uninstalled gone-1.0" in run(python, tmp_path, "-m", "pip", "uninstall", "--yes", "gone")
    assert not list(tmp_path.glob(".local/lib/python3*/site-packages/gone*"))


def test_it_is_done_once(python: Path) -> None:
    said = run(python, Path("/"), "-c", "from pip._internal.utils import misc; print(misc.__file__)").strip()
    before = Path(said).read_text()
    subprocess.run([python, user_packages.__file__], check=True)
    assert Path(said).read_text() == before


@pytest.mark.slow
def test_pip_of_elsewhere_is_left_alone(tmp_path: Path, python: Path) -> None:
    other = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    asked = [str(other / "bin" / "python"), user_packages.__file__]
    none = subprocess.run(asked, text=True, capture_output=True, check=False)
    assert (none.returncode, "this Python has no pip" in none.stderr) == (1, True)
    site = next(python.parent.parent.glob("lib/python3*/site-packages"))
    next(other.glob("lib/python3*/site-packages")).joinpath("theirs.pth").write_text(f"{site}\n")
    foreign = subprocess.run(asked, text=True, capture_output=True, check=False)
    assert (foreign.returncode, "its pip is not its own" in foreign.stderr) == (1, True)
