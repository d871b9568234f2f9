"""Texts of servers, made fit to stand in source code (pure). They are hostile: none of them may become code."""

import ast
import re
import textwrap

_NO_WORD = re.compile(r"[^\w./:-]+")
_JOINERS = "\u200c\u200d"  # Persian and Indic scripts need them, and pictures of people.
_LINE_ENDS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\x85": "\n", "\x0b": "\n", "\x0c": "\n", "\t": " "})


def cleaned(text: object, limit: int) -> str:
    """The text without control characters, direction marks and what else is not seen; of a long one the beginning."""
    if not isinstance(text, str):
        return ""
    # More than what is kept, as some of it goes; not all, as it may be very long.
    start = text[: 4 * limit].replace("\r\n", "\n").replace("\r", "\n").translate(_LINE_ENDS)
    kept = "".join(c for c in start if c.isprintable() or c in _JOINERS or c == "\n")
    kept = "\n".join(line.rstrip() for line in kept.split("\n")).strip()
    if len(kept) > limit or len(text) > 4 * limit:
        return f"{kept[:limit].rstrip()} [... cut]"
    return kept


def one_line(text: object, limit: int) -> str:
    """The first line of a text."""
    return cleaned(text, limit).partition("\n")[0].strip()


def quoted(name: str) -> str:
    """A name as it stands in messages and docstrings: one word, so that it forms no sentence there."""
    return "'" + _NO_WORD.sub("_", one_line(name, 100)) + "'"


def docstring(text: str) -> str:
    """Source code of a docstring with this text, of several lines and easy to read."""
    body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    source = f'"""{body}\n"""'
    return source if _means(source, text + "\n") else ascii(text)


def quote(text: str) -> str:
    """The text as lines that cannot be taken for ours."""
    return textwrap.indent(text, "    | ", lambda _: True)


def literal(text: str) -> str:
    """Source code of exactly this text, in ASCII."""
    return ascii(text)


def _means(source: str, text: str) -> bool:
    try:
        return bool(ast.literal_eval(source) == text)
    except (ValueError, SyntaxError):
        return False
