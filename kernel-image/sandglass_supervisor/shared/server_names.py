"""Names of MCP servers (pure): code imports their functions by them, so each is a name of Python that is still free."""

import keyword
import re

CHARS = 64
# What the package that the code imports has itself, and its counterpart in Node.
RESERVED = frozenset("call call_async code_mode describe mcptools node_modules proxy runtime search servers".split())
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
RULE = f"must be a Python identifier: at most {CHARS} of A-Z, a-z, 0-9 and '_', a letter first"


def is_identifier(name: object) -> bool:
    """True for a name of the right characters."""
    return isinstance(name, str) and len(name) <= CHARS and _NAME.fullmatch(name) is not None


def is_taken(name: str) -> bool:
    """True for one that means something else in Python or in the package."""
    return keyword.iskeyword(name) or name in RESERVED


def is_server_name(name: object) -> bool:
    """True if a server may have the name."""
    return isinstance(name, str) and is_identifier(name) and not is_taken(name)
