"""Keeps what was given as values out of what is told (pure): servers and libraries like to quote them."""

import json
import re
from collections.abc import Collection, Iterator

from ..shared.text import one_line
from .definition import Command, Registration

_SHORTEST = 4  # a shorter value is a word of any text
_HIDDEN = "…"
_URL = re.compile(r"(https?://)(?:[^\s/'\"@]*@)?([^\s/'\"?#]+)[^\s'\"]*")
_SCHEMES = frozenset(("basic", "bearer", "digest", "negotiate", "token"))  # words before a key, not the key


class Hidden:
    """What of one server is not told: values of variables and headers, and of URLs all but scheme, host and port.

    ``secrets`` are values that were read from Secrets. Of these, and of headers, no word is told either.
    """

    def __init__(self, registration: Registration, secrets: Collection[str] = ()) -> None:
        target = registration.target
        whole = target.env.values() if isinstance(target, Command) else target.headers.values()
        in_parts = [*secrets, *(() if isinstance(target, Command) else target.headers.values())]
        texts = {value.strip() for value in (*whole, *secrets)}
        texts.update(word for value in in_parts for word in _words(value))
        spelled = {spelling for text in texts if len(text) >= _SHORTEST for spelling in _spellings(text)}
        self._texts = sorted(spelled, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text without them."""
        text = _URL.sub(r"\1\2", text)
        for value in self._texts:
            text = text.replace(value, _HIDDEN)
        return text


def _words(value: str) -> Iterator[str]:
    """Such as the key of "Bearer KEY", and the lines of a file; in what is told, other characters may be blanks."""
    for word in {*value.split(), *one_line(value, len(value)).split()}:
        if word.lower() not in _SCHEMES:
            yield word


def _spellings(text: str) -> Iterator[str]:
    """As it is, and as JSON and programs quote it."""
    yield text
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield repr(text)[1:-1]
