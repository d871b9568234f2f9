"""What the supervisor says of an image that it cannot run in, and how it starts Pythons that have no option -P."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import zmq

import sandglass_supervisor
from sandglass_supervisor import image_check
from sandglass_supervisor.processes import safe_argv

OURS = Path(sandglass_supervisor.__file__).parent
OLD = "import sys; sys.version_info = (3, 9, 18, 'final', 0)\n"


def image(folder: Path, *packages: Path) -> Path:
    """A Python with these packages and no others; their folder and the interpreter's."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for package in (OURS, *packages):
        (site / package.name).symlink_to(package)
    return site


def said(python: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [python, "-I", "-m", "sandglass_supervisor"], env={}, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stderr


def zmq_parts() -> list[Path]:
    package = Path(zmq.__file__).parent
    return [package, *package.parent.glob("pyzmq.libs")]


def ipykernel(folder: Path, version: str) -> Path:
    package = folder / "ipykernel"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_version.py").write_text(f'"""Version."""\n\n__version__ = "{version}"\n')
    return package


def test_pyzmq_is_missed(tmp_path: Path) -> None:
    image(tmp_path / "image")
    code, words = said(tmp_path / "image/bin/python3")
    assert code == 3
    assert words.startswith("image-lacks: the Python package pyzmq")
    assert words.count("\n") == 1


def test_ipykernel_is_missed(tmp_path: Path) -> None:
    image(tmp_path / "image", *zmq_parts())
    assert said(tmp_path / "image/bin/python3") == (
        3,
        "image-lacks: the Python package ipykernel 7.3 or newer: it has none\n",
    )


def test_an_old_ipykernel_is_told_with_its_version(tmp_path: Path) -> None:
    image(tmp_path / "image", *zmq_parts(), ipykernel(tmp_path, "7.2.9"))
    assert said(tmp_path / "image/bin/python3") == (
        3,
        "image-lacks: the Python package ipykernel 7.3 or newer: it has 7.2\n",
    )


@pytest.mark.parametrize("version", ["8.0", "10.0.0a1"])
def test_an_ipykernel_that_is_too_new_is_told_with_its_version(tmp_path: Path, version: str) -> None:
    image(tmp_path / "image", *zmq_parts(), ipykernel(tmp_path, version))
    has = ".".join(version.split(".")[:2])
    assert said(tmp_path / "image/bin/python3") == (
        3,
        f"image-lacks: the Python package ipykernel below 8 (pip install ipykernel~=7.3): it has {has}\n",
    )


@pytest.mark.parametrize("version", ["7.3.0", "7.10.0a1", "of another form"])
def test_a_good_or_unknown_version_is_taken(tmp_path: Path, version: str) -> None:
    image(tmp_path / "image", *zmq_parts(), ipykernel(tmp_path, version))
    code, words = said(tmp_path / "image/bin/python3")
    assert code == 2  # nothing is missing; but it was told no key
    assert words.startswith("refused reason=SANDGLASS_LINK_SECRET_KEY")


def test_an_old_python_is_told_with_its_version(tmp_path: Path) -> None:
    site = image(tmp_path / "image")
    (site / "old.pth").write_text(OLD)
    assert said(tmp_path / "image/bin/python3") == (3, "image-lacks: Python 3.10 or newer: its python3 is 3.9\n")


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("/opt/sandglass", []),
        ("/usr", []),
        ("/usr/local", []),
        ("/app/.venv", ["/app/.venv"]),
        ("/optional", ["/optional"]),
        ("/workspace/opt/usr", ["/workspace/opt/usr"]),
    ],
)
def test_folders_that_a_volume_could_cover_are_told(
    monkeypatch: pytest.MonkeyPatch, folder: str, told: list[str]
) -> None:
    monkeypatch.setattr(sys, "prefix", folder)
    monkeypatch.setattr(sys, "base_prefix", "/opt/python")
    monkeypatch.setattr(image_check, "__file__", "/usr/lib/python3/sandglass_supervisor/image_check.py")
    assert image_check.coverable() == told
    monkeypatch.setattr(sys, "base_prefix", "/home/me/python")
    monkeypatch.setattr(image_check, "__file__", "/srv/sandglass_supervisor/image_check.py")
    assert image_check.coverable() == sorted({*told, "/home/me/python", "/srv/sandglass_supervisor"})


@pytest.mark.parametrize("file", ["__init__.py", "__main__.py", "image_check.py"])
def test_what_runs_first_is_understood_by_old_pythons(file: str) -> None:
    ast.parse((OURS / file).read_text(), feature_version=(3, 7))


@pytest.mark.slow
@pytest.mark.parametrize("minor", [6, 7, 8, 9])
def test_a_real_old_python_says_it_too(tmp_path: Path, minor: int) -> None:
    python = shutil.which(f"python3.{minor}")
    if python is None or subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip("this machine has none")
    (tmp_path / OURS.name).symlink_to(OURS)
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from sandglass_supervisor.__main__ import main"
    run = [python, "-I", "-B", "-c", f"{start}; sys.exit(main())"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (3, f"image-lacks: Python 3.10 or newer: its python3 is 3.{minor}\n")


@pytest.mark.parametrize("has_option", [True, False])
def test_files_in_the_working_directory_stand_in_for_no_module(tmp_path: Path, has_option: bool) -> None:
    if has_option and sys.version_info < (3, 11):
        pytest.skip("this Python has no -P")
    for name in ("json", "pip", "runpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    code = safe_argv.code("import json; print(json.dumps([1]))", has_option)
    module = safe_argv.module("json.tool", has_option)

    def printed(argv: list[str], given: str) -> str:
        env = {"PATH": os.environ["PATH"]}
        return subprocess.run(
            argv, cwd=tmp_path, env=env, input=given, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    assert printed(code, "") == "[1]\n"
    assert printed([*module, "--compact"], '{"a": 1}') == '{"a":1}\n'
