"""Packages that are made here, and their installation: for nothing beyond this machine is reached."""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from client import Client, Output
from supervisors import Running

OK = ("ok", 0, "")


def wheel(name: str, version: str, code: str, more: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """A package of one module and more files."""
    info = f"{name}-{version}.dist-info"
    files = {
        **more,
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return buffer.getvalue()


def tarball(name: str, code: str) -> bytes:
    """What ``npm pack`` makes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        about = json.dumps({"name": name, "version": "1.0.0", "main": "index.js"})
        for path, text in (("package/package.json", about), ("package/index.js", code)):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def make(box: Running, name: str, version: str = "1.0", word: str = "hello") -> str:
    """A wheel in the workspace; its path from there."""
    (box.workspace / "made").mkdir(exist_ok=True)
    path = f"made/{name}-{version}-py3-none-any.whl"
    (box.workspace / path).write_bytes(wheel(name, version, f"word = '{word}'\n"))
    return path


def pack(box: Running, name: str) -> str:
    """A tarball in the workspace; its path from there, which could also be a repository's name."""
    (box.workspace / "made").mkdir(exist_ok=True)
    path = f"made/{name}-1.0.0.tgz"
    (box.workspace / path).write_bytes(tarball(name, "module.exports = 'hello';"))
    return path


def begin(client: Client, name: str, *wanted: str, **more: Any) -> dict[str, Any]:
    return client.ask("install", execution_id=name, packages=list(wanted), attach=True, **more)


def install(client: Client, name: str, *wanted: str, **more: Any) -> Output:
    begin(client, name, *wanted, **more)
    return client.finish(name, 90)


def ended(output: Output) -> tuple[str, int | None, str]:
    assert output.outcome is not None
    return output.outcome["status"], output.outcome["exit_code"], output.outcome["message"]
