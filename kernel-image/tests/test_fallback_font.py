"""Letters that no font of a figure has are drawn with one more font; here with one of matplotlib's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

from sandglass_supervisor import fallback_font

DRAW = """
import sys, warnings
warnings.simplefilter("error")
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import font_manager
plt.rcParams["axes.formatter.use_mathtext"] = True
plt.rcParams["font.family"] = sys.argv[1:]
plt.figure()
plt.title("\\u0416\\u03a9 a\\u0308")
for kind in ("png", "svg", "pdf", "ps"):
    plt.savefig("drawn." + kind)
print([path.rpartition("/")[2] for path in font_manager.fontManager._find_fonts_by_props({})])
print(font_manager.findfont(font_manager.FontProperties()).rpartition("/")[2])
"""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a matplotlib that may be changed."""
    folder = tmp_path_factory.mktemp("theirs")
    skipped = shutil.ignore_patterns("tests", "sample_data")
    shutil.copytree(Path(matplotlib.__file__).parent, folder / "matplotlib", ignore=skipped)
    return folder


def python(theirs: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    variables = {"PATH": os.defpath, "HOME": str(folder), "MPLCONFIGDIR": str(theirs), "PYTHONPATH": str(theirs)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=variables, text=True, capture_output=True, check=False
    )


def fallback(theirs: Path) -> str:
    return str(theirs / "matplotlib" / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf")


def change(theirs: Path, folder: Path, font: str) -> tuple[int, str]:
    done = python(theirs, folder, "-m", fallback_font.__name__, font)
    return done.returncode, done.stderr


@pytest.mark.slow
def test_what_the_fonts_lack_is_drawn(theirs: Path, tmp_path: Path) -> None:
    control = python(theirs, tmp_path, "-c", DRAW, "cmr10")
    assert "missing from font" in control.stderr

    assert change(theirs, tmp_path, fallback(theirs)) == (0, "")

    for families, found in (
        (["cmr10"], ["cmr10.ttf", "DejaVuSans.ttf"]),
        (["sans-serif"], ["DejaVuSans.ttf"]),
        (["serif", "monospace"], ["DejaVuSerif.ttf", "DejaVuSansMono.ttf", "DejaVuSans.ttf"]),
        (["no such font"], ["DejaVuSans.ttf"]),
    ):
        drawn = python(theirs, tmp_path, "-c", DRAW, *families)
        assert drawn.returncode == 0, drawn.stderr
        assert drawn.stdout.splitlines() == [str(found), found[0]]


@pytest.mark.slow
def test_it_is_done_once(theirs: Path, tmp_path: Path) -> None:
    file = theirs / "matplotlib" / "font_manager.py"
    assert change(theirs, tmp_path, fallback(theirs)) == (0, "")
    before = file.read_text("utf-8")
    assert change(theirs, tmp_path, fallback(theirs)) == (0, "")
    assert file.read_text("utf-8") == before


@pytest.mark.slow
def test_it_says_why_not(theirs: Path, tmp_path: Path) -> None:
    status, said = change(theirs, tmp_path, "/none.ttf")
    assert (status, "there is no font /none.ttf" in said) == (1, True)
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").touch()
    status, said = change(tmp_path, tmp_path, fallback(theirs))
    assert (status, "no matplotlib" in said) == (1, True)
    (tmp_path / "matplotlib" / "font_manager.py").write_text("class FontManager:\n    pass\n")
    status, said = change(tmp_path, tmp_path, fallback(theirs))
    assert (status, "a version that is not known here" in said) == (1, True)
