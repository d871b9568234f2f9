"""What lies outside the workspace and must stay as it is."""

from pathlib import Path

SECRET = b"what nobody in the sandbox wrote"


def plant(folder: Path) -> None:
    (folder / "inner").mkdir(parents=True)
    (folder / "secret").write_bytes(SECRET)
    (folder / "inner/deep").write_bytes(SECRET)


def assert_untouched(folder: Path) -> None:
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["inner", "inner/deep", "secret"]
    assert (folder / "secret").read_bytes() == (folder / "inner/deep").read_bytes() == SECRET
