"""A seat: a pod that was started before its sandbox is known, with kernels in which nothing ran.

A gateway configures it once, before anything else; from then on it is that sandbox's pod, and code finds it as it finds
one that was started with these values. ``supervisor`` applies them. README.md, "A seat", describes the verb.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .limits import NAME_BYTES
from .link.arguments import bad, parse_envs
from .link.wire import Problem, Reply

CONFIGURE = "configure"
_BEFORE = frozenset({"hello", CONFIGURE})
_UID = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?", re.ASCII)  # as labels have it
_MOST_INCARNATIONS = 2**31 - 1
_NO_SEAT = "this pod is no seat: it was started for its sandbox, and has its environment since then"


class Configuration(NamedTuple):
    """What makes a seat a sandbox's pod; ``lost`` says why it replaced another pod, as SANDGLASS_REPLACED does."""

    sandbox_uid: str
    incarnation: int
    env: dict[str, str]
    lost: str | None

    def __repr__(self) -> str:
        """Without the code's environment."""
        return f"Configuration(sandbox_uid={self.sandbox_uid!r}, incarnation={self.incarnation})"


def parse_configuration(given: dict[str, Any]) -> Configuration:
    """The arguments of ``configure``; raises Problem with the field and the rule."""
    uid, incarnation, lost = given.get("sandbox_uid"), given.get("incarnation"), given.get("lost")
    if not isinstance(uid, str) or len(uid) > NAME_BYTES or not _UID.fullmatch(uid):
        rule = f"must be 1 to {NAME_BYTES} letters, digits, '-', '_' or '.', a letter or digit first and last"
        raise bad("sandbox_uid", rule)
    if isinstance(incarnation, bool) or not isinstance(incarnation, int) or not 1 <= incarnation <= _MOST_INCARNATIONS:
        raise bad("incarnation", f"must be a whole number from 1 to {_MOST_INCARNATIONS}")
    if lost is not None and not (isinstance(lost, str) and len(lost) <= NAME_BYTES and _is_word(lost)):
        raise bad("lost", f"must be a word of at most {NAME_BYTES} letters")
    return Configuration(uid, incarnation, parse_envs(given.get("env"), "env"), lost)


def _is_word(text: str) -> bool:
    return not text or (text.isascii() and text.isalpha())


class Seat:
    """Serves nobody but who configures it; ``begin`` is called once, with what it was configured with."""

    def __init__(self, begin: Callable[[Configuration], None]) -> None:
        self._begin = begin
        self._configured: Configuration | None = None

    def check(self, verb: str) -> None:
        """Raise Problem if the verb may not be served yet."""
        if self._configured is None and verb not in _BEFORE:
            words = f"this pod waits for its sandbox: '{CONFIGURE}' must come before '{verb[:40]}'"
            raise Problem("not_configured", words)

    def configure(self, given: dict[str, Any]) -> Reply:
        """Become the pod of a sandbox. Asked again in the same words, it answers the same and does nothing."""
        wanted = parse_configuration(given)
        there = self._configured
        if there is None:
            # First: if it fails in the midst, it is nobody's, and the next attempt does all of it.
            self._begin(wanted)
            self._configured = wanted
        elif (there.sandbox_uid, there.incarnation) != (wanted.sandbox_uid, wanted.incarnation):
            raise Problem("already_configured", f"this pod is that of sandbox {there.sandbox_uid} already")
        elif there.env != wanted.env:
            raise Problem("already_configured", "env: this pod has other variables already; the first ones stay")
        return {}

    def describe(self) -> Reply:
        """As ``hello`` tells it."""
        return {"configured_for": None if self._configured is None else self._configured.sandbox_uid}


def refuse() -> Reply:
    """What ``configure`` comes to in a pod that is no seat."""
    raise Problem("bad_request", f"{CONFIGURE}: {_NO_SEAT}")
