"""Values that come from Secrets: files that the kubelet keeps below one folder, read anew at each start of a server.

The files are links into folders that the kubelet replaces as a whole. So the system itself walks them, below the folder
of the Secret, and what is found is judged by its descriptor.
"""

import errno
import os
import stat
from typing import NamedTuple

from .. import linux
from ..limits import ENV_VALUE_BYTES, MCP_HEADER_BYTES, MCP_SECRETS_BYTES, SLICE_BYTES
from .definition import HEADER_RULE, Command, SecretEntry, Url, is_header_value

_INSIDE = linux.RESOLVE_BENEATH | linux.RESOLVE_NO_MAGICLINKS
_FOLDER = os.O_PATH | os.O_DIRECTORY
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY  # never waits, whatever is there
_ATTEMPTS = 3  # the kubelet may replace the folder between two looks
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
_LINE_BREAK = 2  # bytes, at the end of a header's file


class SecretUnusable(Exception):
    """A value cannot be had; the text names what is to get it, Secret, key and rule, and never the value."""


class _Kind(NamedTuple):
    """What gets a value, and how long that may be."""

    word: str
    most: int
    is_header: bool


_VARIABLE = _Kind("variable", ENV_VALUE_BYTES, is_header=False)
_HEADER = _Kind("header", MCP_HEADER_BYTES, is_header=True)


def read(target: Command | Url, folder: str) -> dict[str, str]:
    """The values by the names of variables or headers, from below ``folder``; raises SecretUnusable."""
    kind, entries = (_VARIABLE, target.secret_env) if isinstance(target, Command) else (_HEADER, target.secret_headers)
    values: dict[str, str] = {}
    left = MCP_SECRETS_BYTES
    for name, entry in entries.items():
        try:
            data = _content(entry, kind, folder)
            left -= len(data)
            if left < 0:
                raise SecretUnusable(f"makes more than {MCP_SECRETS_BYTES} bytes together with the others; use less")
            values[name] = _header(data) if kind.is_header else _variable(data)
        except SecretUnusable as problem:
            words = f"{kind.word} '{name}': key '{entry.key}' of Secret '{entry.secret}' {problem}"
            raise SecretUnusable(words) from None
    return values


def _content(entry: SecretEntry, kind: _Kind, folder: str) -> bytes:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _read(entry, kind, folder)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise SecretUnusable(_words(error)) from None
            if attempt == _ATTEMPTS:
                break
    raise SecretUnusable(
        "is not in the server's pod. Create the Secret with that key in the server's namespace; if it is there, wait"
        " two minutes, or delete the pod"
    )


def _words(error: OSError) -> str:
    if error.errno in (errno.EXDEV, errno.ELOOP):
        return "leads out of the folder of that Secret; only the kubelet's own files are read"
    return f"cannot be read ({error.strerror}); delete the server's pod, so that the next one has its files anew"


def _read(entry: SecretEntry, kind: _Kind, folder: str) -> bytes:
    most = kind.most + (_LINE_BREAK if kind.is_header else 0)
    opened: list[int] = []
    try:
        opened.append(os.open(folder, _FOLDER | os.O_CLOEXEC))
        opened.append(linux.openat2(opened[-1], entry.secret, _FOLDER, _INSIDE))
        opened.append(linux.openat2(opened[-1], entry.key, _FILE, _INSIDE))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            raise SecretUnusable("is no file; only the kubelet's own files are read")
        data = b""
        while len(data) <= most and (more := os.read(opened[-1], SLICE_BYTES)):
            data += more
    finally:
        for descriptor in opened:
            os.close(descriptor)
    if kind.is_header:
        data = data[:-2] if data.endswith(b"\r\n") else data.removesuffix(b"\n")
    if len(data) > kind.most:
        raise SecretUnusable(f"has more than {kind.most} bytes; store a shorter value")
    return data


def _variable(data: bytes) -> str:
    text = _text(data)
    if "\0" in text:
        raise SecretUnusable("has a NUL character, which no variable can hold; store a text")
    return text


def _header(data: bytes) -> str:
    text = _text(data)
    if not is_header_value(text):
        raise SecretUnusable(f"{HEADER_RULE}; store such a value")
    return text


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SecretUnusable("is not UTF-8; store a text") from None
