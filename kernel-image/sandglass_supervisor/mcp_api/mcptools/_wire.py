"""The socket of the supervisor: one connection for each request, which closes with it.

So nothing is shared between threads, event loops and forked processes, and the supervisor knows of each call whose it
is. A call that is given up sends ``cancel`` before it closes the connection.
"""

import asyncio
import json
import os
import socket
import struct
import time
import uuid
from contextlib import suppress
from typing import Any

from . import _gate
from ._errors import ToolRunnerError, ToolTimeout, Unreachable

VARIABLE = "SANDGLASS_MCP_SOCKET"
FRAME_BYTES = 8 * 1024 * 1024
_LENGTH = struct.Struct(">I")
_CHUNK = 256 * 1024
_CONNECT_S = 10.0
_RETRY_S = 0.01
# The supervisor keeps the time of a call. If it does not answer either, the caller is freed this much later.
_GRACE_S = 10.0
_ID = 1


def ask(request: dict[str, Any], timeout_s: float | None = None) -> dict[str, Any]:
    """Send a request and wait for its answer."""
    with _gate.of_connections().entered():
        return _ask(request, timeout_s)


async def ask_async(request: dict[str, Any], timeout_s: float | None = None) -> dict[str, Any]:
    """Do as ``ask``, in an event loop."""
    async with _gate.of_connections().entered_async():
        return await _ask_async(request, timeout_s)


def _ask(request: dict[str, Any], timeout_s: float | None) -> dict[str, Any]:
    frame = _frame(request)
    end = _end(timeout_s)
    sent = False
    connection = _connection()
    try:
        _connect(connection)
        connection.settimeout(_left(end))
        connection.sendall(frame)
        sent = True
        length = _length(_receive(connection, _LENGTH.size, end))
        return _answer(_receive(connection, length, end))
    except TimeoutError:
        _cancel(connection, sent)
        raise _silent(timeout_s) from None
    except OSError as error:
        raise _broken(error) from None
    except BaseException:
        _cancel(connection, sent)
        raise
    finally:
        connection.close()


async def _ask_async(request: dict[str, Any], timeout_s: float | None) -> dict[str, Any]:
    frame = _frame(request)
    end = _end(timeout_s)
    sent = False
    connection = _connection()
    loop = asyncio.get_running_loop()
    try:
        await _connect_async(connection)
        await loop.sock_sendall(connection, frame)
        sent = True
        reading = _receive_answer(loop, connection)
        return _answer(await asyncio.wait_for(reading, _left(end)))
    except (TimeoutError, asyncio.TimeoutError):
        _cancel(connection, sent)
        raise _silent(timeout_s) from None
    except OSError as error:
        raise _broken(error) from None
    except BaseException:
        _cancel(connection, sent)
        raise
    finally:
        connection.close()


def _frame(request: dict[str, Any]) -> bytes:
    try:
        text = json.dumps({"id": _ID, **request}, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolRunnerError(f"the arguments are no JSON: {error}\nPass texts, numbers, lists and dicts.") from None
    if len(text) > FRAME_BYTES:
        raise ToolRunnerError(f"the arguments have {len(text)} bytes, and {FRAME_BYTES} at most are sent: pass less")
    return _LENGTH.pack(len(text)) + text


def _plain(value: Any) -> Any:
    """What code passes besides JSON's own types: models, times, numbers and arrays of NumPy, sets, paths."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for method in ("isoformat", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, set | frozenset):
        return list(value)
    if isinstance(value, os.PathLike | uuid.UUID):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__}")


def _connection() -> socket.socket:
    if not os.environ.get(VARIABLE):
        raise Unreachable(f"{VARIABLE} is not set: the kernels and commands of a sandbox reach MCP servers")
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def _connect(connection: socket.socket) -> None:
    end = time.monotonic() + _CONNECT_S
    while not _is_connected(connection, end):
        time.sleep(_RETRY_S)


async def _connect_async(connection: socket.socket) -> None:
    end = time.monotonic() + _CONNECT_S
    while not _is_connected(connection, end):  # noqa: ASYNC110 - nothing would set an event
        await asyncio.sleep(_RETRY_S)


def _is_connected(connection: socket.socket, end: float) -> bool:
    """A Unix socket whose queue is full says EAGAIN at once, and nothing tells when it has room: so ask again."""
    connection.setblocking(False)
    try:
        connection.connect(os.environ[VARIABLE])
    except BlockingIOError:
        if time.monotonic() > end:
            raise ConnectionRefusedError(f"no connection was taken within {_CONNECT_S:.0f} s") from None
        return False
    return True


def _receive(connection: socket.socket, length: int, end: float | None) -> bytearray:
    data = bytearray()
    while len(data) < length:
        connection.settimeout(_left(end))
        data += _some(connection.recv(min(length - len(data), _CHUNK)))
    return data


async def _receive_answer(loop: asyncio.AbstractEventLoop, connection: socket.socket) -> bytearray:
    wanted, head = _LENGTH.size, True
    data = bytearray()
    while len(data) < wanted:
        data += _some(await loop.sock_recv(connection, min(wanted - len(data), _CHUNK)))
        if head and len(data) == wanted:
            wanted, head, data = _length(data), False, bytearray()
    return data


def _some(data: bytes) -> bytes:
    if not data:
        raise ConnectionResetError("the supervisor closed the connection")
    return data


def _length(head: bytearray) -> int:
    (length,) = _LENGTH.unpack(head)
    if not 0 < length <= FRAME_BYTES:
        raise ConnectionAbortedError(f"an answer of {length} bytes")
    return int(length)


def _answer(data: bytearray) -> dict[str, Any]:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        raise ConnectionAbortedError("an answer that is no JSON") from None
    if not isinstance(answer, dict):
        raise ConnectionAbortedError("an answer that is no object")
    return answer


def _cancel(connection: socket.socket, sent: bool) -> None:
    """Best effort: what closes the connection cancels the call as well."""
    if sent:
        text = json.dumps({"id": _ID, "op": "cancel"}).encode()
        with suppress(OSError):
            connection.setblocking(False)
            connection.send(_LENGTH.pack(len(text)) + text)


def _end(timeout_s: float | None) -> float | None:
    return None if timeout_s is None else time.monotonic() + timeout_s + _GRACE_S


def _left(end: float | None) -> float | None:
    return None if end is None else max(end - time.monotonic(), 0.001)


def _silent(timeout_s: float | None) -> ToolRunnerError:
    return ToolTimeout(f"no answer within {timeout_s or 0:g} s, nor in the {_GRACE_S:.0f} s after")


def _broken(error: OSError) -> ToolRunnerError:
    return Unreachable(f"the way to the MCP servers broke: {error.strerror or error}")
