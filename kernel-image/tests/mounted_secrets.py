"""Secrets as the kubelet mounts them: links into a folder that it replaces as a whole when the Secret changes."""

import itertools
import os
import shutil
from pathlib import Path

_VERSIONS = itertools.count(1)


def publish(folder: Path, secret: str, **entries: bytes) -> None:
    """Mount a Secret below ``folder``, or bring the mounted one up to date."""
    mounted = folder / secret
    mounted.mkdir(parents=True, exist_ok=True)
    version = f"..2026_11_27_{next(_VERSIONS)}"
    (mounted / version).mkdir()
    for key, value in entries.items():
        (mounted / version / key).write_bytes(value)
    before = os.readlink(mounted / "..data") if (mounted / "..data").is_symlink() else None
    (mounted / "..data_tmp").symlink_to(version)
    os.rename(mounted / "..data_tmp", mounted / "..data")
    for link in mounted.iterdir():
        if not link.name.startswith("..") and link.name not in entries:
            link.unlink()
    for key in entries:
        if not (mounted / key).is_symlink():
            (mounted / key).symlink_to(f"..data/{key}")
    if before is not None:
        shutil.rmtree(mounted / before)
