"""Files of the sandbox, read and written for callers: the verb ``files``."""

import errno
import os
import secrets
import stat
from collections.abc import Callable
from functools import partial

from .. import linux
from ..limits import DEED_S, DEED_STEP_S, DEEDS, LIST_BYTES
from ..link.arguments import FileRequest
from ..link.wire import Answer, Problem, Reply
from ..loop import Loop
from ..processes.children import log
from . import file_walks
from .confined import Confined, Entry, problem, shown, telling
from .file_walks import Deed
from .file_windows import FileWindows

# Neither a pipe without a writer nor a file that is leased may keep us waiting, and no terminal may become ours.
_PROMPTLY = os.O_NONBLOCK | os.O_NOCTTY
_MODE = 0o777


class Files:
    """What is short is done at once; lists and deletions of many entries go on in steps between other work."""

    def __init__(self, loop: Loop, confined: Confined) -> None:
        self._loop = loop
        self._confined = confined
        self._busy: set[bytes] = set()
        self._windows = FileWindows()

    def greet(self, peer: bytes, *, acknowledges: bool) -> None:
        """The peer said hello, and whether it acknowledges what it gets of files."""
        self._windows.greet(peer, acknowledges=acknowledges)

    def forget(self, peer: bytes) -> None:
        """The peer is gone."""
        self._windows.forget(peer)

    def acknowledge(self, peer: bytes, total: int) -> None:
        """The peer has so many bytes of files since it said hello."""
        self._windows.acknowledge(peer, total)

    def serve(self, peer: bytes, request: FileRequest, answer: Answer) -> None:
        """Serve one request, now or when its answer has room on the link; Problem says why not."""
        if request.operation not in ("read", "list"):
            self._serve(peer, request, answer)
            return

        def counted(value: Reply | Problem, blob: bytes = b"") -> None:
            self._windows.sent(peer, len(blob))
            answer(value, blob)

        def later() -> None:
            try:
                self._serve(peer, request, counted)
            except Problem as why:
                answer(why)
            except Exception as error:  # noqa: BLE001 - another request's door: it must not suffer from this one
                answer(_fault(error))

        length = request.length if request.operation == "read" else LIST_BYTES
        self._windows.begin(peer, length, lambda: self._serve(peer, request, counted), later)

    def _serve(self, peer: bytes, request: FileRequest, answer: Answer) -> None:
        with telling(request.path or "."):
            match request.operation:
                case "read":
                    answer(*self._read(request))
                case "write":
                    answer(self._write(request))
                case "list":
                    self._begin(peer, self._listing, request, answer)
                case "mkdir":
                    answer(self._make(request))
                case "move":
                    answer(self._move(request))
                case "delete":
                    self._delete(peer, request, answer)
                case "stat":
                    answer(self._stat(request))

    def _read(self, request: FileRequest) -> tuple[Reply, bytes]:
        descriptor = self._confined.open(self._confined.spot(request.path), os.O_RDONLY | _PROMPTLY)
        try:
            size = _size(descriptor, request.path)
            offset = request.offset or 0
            if offset > size:
                raise Problem("bad_request", f"offset: {offset} is behind the end; the file has {size} bytes")
            data = bytearray()
            while len(data) < request.length:
                piece = os.pread(descriptor, request.length - len(data), offset + len(data))
                if not piece:
                    break
                data += piece
        finally:
            os.close(descriptor)
        # It may be growing.
        return {"offset": offset, "size": max(size, offset + len(data))}, bytes(data)

    def _write(self, request: FileRequest) -> Reply:
        if request.offset is None:
            with self._confined.entry(request.path, follow=True, make=True) as entry:
                _replace(entry, request)
            return {"bytes": len(request.content), "size": len(request.content)}
        try:
            descriptor = self._confined.open(self._confined.spot(request.path), os.O_WRONLY | _PROMPTLY)
        except FileNotFoundError as error:
            words = f"there is no file '{shown(request.path)}' yet; its first piece is written without 'offset'"
            raise Problem("not_found", words) from error
        try:
            size = _size(descriptor, request.path)
            if request.offset > size:
                raise Problem("bad_request", f"offset: {request.offset} is behind the end; the file has {size} bytes")
            try:
                _put(descriptor, request.content, request.offset)
            except OSError:
                if os.fstat(descriptor).st_size > size:
                    os.ftruncate(descriptor, size)
                raise
            return {"bytes": len(request.content), "size": os.fstat(descriptor).st_size}
        finally:
            os.close(descriptor)

    def _listing(self, request: FileRequest) -> Deed:
        base = self._confined.open(self._confined.spot(request.path), os.O_RDONLY | os.O_DIRECTORY | _PROMPTLY)
        return file_walks.listing(base, request.limit, self._deadline(), recursive=request.recursive)

    def _make(self, request: FileRequest) -> Reply:
        spot = self._confined.spot(request.path)
        try:
            os.close(self._confined.open(spot, os.O_PATH | os.O_DIRECTORY))
        except FileNotFoundError:
            with self._confined.folder(spot, make=True):
                return {"created": True}
        except NotADirectoryError as error:
            words = f"'{shown(request.path)}', or a part of it, is a file; choose another name"
            raise Problem("exists", words) from error
        return {"created": False}

    def _move(self, request: FileRequest) -> Reply:
        with self._confined.entry(request.path) as source:
            # What is to be moved must be there before folders are made for it.
            os.stat(source.name, dir_fd=source.folder, follow_symlinks=False)
            with telling(request.to), self._confined.entry(request.to, make=True) as target:
                try:
                    linux.rename_new(source.name, source.folder, target.name, target.folder)
                except OSError as error:
                    if error.errno != errno.EINVAL:
                        raise
                    _rename(source, target, request)
        return {}

    def _delete(self, peer: bytes, request: FileRequest, answer: Answer) -> None:
        with self._confined.entry(request.path) as entry:
            try:
                os.unlink(entry.name, dir_fd=entry.folder)
            except IsADirectoryError:
                if request.recursive:
                    self._begin(peer, partial(self._deletion, entry), request, answer)
                    return
                os.rmdir(entry.name, dir_fd=entry.folder)
        answer({"deleted": 1, "done": True})

    def _deletion(self, entry: Entry, request: FileRequest) -> Deed:
        return file_walks.deletion(request.path, Entry(os.dup(entry.folder), entry.name), self._deadline())

    def _stat(self, request: FileRequest) -> Reply:
        descriptor = self._confined.open(self._confined.spot(request.path), os.O_PATH | os.O_NOFOLLOW)
        try:
            found = os.fstat(descriptor)
            link = stat.S_ISLNK(found.st_mode)
            target = shown(os.readlink("", dir_fd=descriptor)) if link else None
        finally:
            os.close(descriptor)
        return {**file_walks.facts(found), "mode": f"{stat.S_IMODE(found.st_mode):04o}", "target": target}

    def _deadline(self) -> Callable[[], bool]:
        end = self._loop.clock() + DEED_S
        return lambda: self._loop.clock() > end

    def _begin(self, peer: bytes, make: Callable[[FileRequest], Deed], request: FileRequest, answer: Answer) -> None:
        if peer in self._busy:
            raise Problem("rejected", "another list or deletion goes on; try again when it is answered")
        if len(self._busy) >= DEEDS:
            raise Problem("rejected", f"{DEEDS} lists or deletions go on; try again later")
        deed = make(request)
        self._busy.add(peer)
        self._go_on(peer, deed, request, answer)

    def _go_on(self, peer: bytes, deed: Deed, request: FileRequest, answer: Answer) -> None:
        pause = self._loop.clock() + DEED_STEP_S
        try:
            while self._loop.clock() < pause:
                next(deed)
        except StopIteration as end:
            self._busy.discard(peer)
            answer(*end.value)
        except Problem as why:
            self._busy.discard(peer)
            answer(why)
        except OSError as error:
            self._busy.discard(peer)
            answer(problem(error, request.path or "."))
        except Exception as error:  # noqa: BLE001 - a timer's door: one bad folder must not end the sandbox
            self._busy.discard(peer)
            answer(_fault(error))
        else:
            self._loop.call_in(0, lambda: self._go_on(peer, deed, request, answer))


def _fault(error: Exception) -> Problem:
    log("internal", verb="files", error=type(error).__name__)
    return Problem("internal", f"{type(error).__name__} in the supervisor")


def _size(descriptor: int, path: str) -> int:
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise Problem("not_a_file", f"Not a file: '{shown(path)}' is a pipe, a socket or a device")
    return found.st_size


def _put(descriptor: int, content: bytes, offset: int) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, memoryview(content)[done:], offset + done)


def _replace(entry: Entry, request: FileRequest) -> None:
    """All or nothing: the new file takes the name of the old one when it is complete."""
    mode = _mode_of(entry, request.path)
    part = f".sandglass-{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(part, flags, 0o666, dir_fd=entry.folder)
    try:
        try:
            _put(descriptor, request.content, 0)
            if mode is not None:
                os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)
        os.rename(part, entry.name, src_dir_fd=entry.folder, dst_dir_fd=entry.folder)
    except BaseException:
        os.unlink(part, dir_fd=entry.folder)
        raise


def _mode_of(entry: Entry, path: str) -> int | None:
    """The mode of the file that is to be replaced, or None if there is none; raises if it may not be."""
    try:
        found = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise Problem("not_a_file", f"Not a file: '{shown(path)}' is a pipe, a socket or a device")
    if not os.access(entry.name, os.W_OK, dir_fd=entry.folder, effective_ids=True):
        fixed = os.fstatvfs(entry.folder).f_flag & os.ST_RDONLY
        reason = errno.EROFS if fixed else errno.EACCES
        raise OSError(reason, os.strerror(reason))
    return found.st_mode & _MODE


def _rename(source: Entry, target: Entry, request: FileRequest) -> None:
    """For file systems that cannot refuse a taken name themselves: looked up before, which is a moment early."""
    try:
        os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
    except FileNotFoundError:
        pass
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    try:
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise Problem("bad_request", f"to: '{shown(request.to)}' lies in what is to be moved") from error
        raise
