"""A file of this machine that takes its name when it is whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sandglass.errors import ConfigurationError, EndpointError


class PartFile:
    """A file that takes its name when it is whole, and has at most `most` bytes."""

    def __init__(self, place: Path, most: int) -> None:
        self._place = place
        self._most = most

    def __enter__(self) -> PartFile:
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor, self._part = tempfile.mkstemp(dir=self._place.parent, prefix=".sandglass-")
        except OSError as error:
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None
        return self

    def write(self, data: bytes, offset: int) -> None:
        """Writes bytes at their place."""
        if offset + len(data) > self._most:
            raise EndpointError(f"{self._place}: the sandbox sends more than the size that it listed; copy it again")
        try:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.close(self._descriptor)
        part = Path(self._part)
        if kind is not None:
            part.unlink(missing_ok=True)
            return
        # It was made for its owner alone; a file of this name would have had the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        try:
            part.replace(self._place)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None
