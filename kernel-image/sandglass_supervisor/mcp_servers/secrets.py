"""Keeps what a caller gave as values out of what is told (pure): servers and libraries like to quote them."""

import re

from .definition import Command, Registration

_SHORTEST = 4  # a shorter value is a word of any text
_HIDDEN = "…"
_URL = re.compile(r"(https?://)(?:[^\s/'\"@]*@)?([^\s/'\"?#]+)[^\s'\"]*")


def hide(text: str, registration: Registration) -> str:
    """The text without the values of variables and headers, and of URLs only scheme, host and port."""
    target = registration.target
    given = target.env if isinstance(target, Command) else target.headers
    text = _URL.sub(r"\1\2", text)
    for value in sorted(given.values(), key=len, reverse=True):
        if len(value.strip()) >= _SHORTEST:
            text = text.replace(value.strip(), _HIDDEN)
    return text
