"""The arguments of verbs, checked one by one (pure): a value that passes is safe to use as it is."""

import re
from typing import Any, NamedTuple

from ..limits import (
    ARG_BYTES,
    ARG_COUNT,
    CALL_KINDS,
    CODE_BYTES,
    ENV_COUNT,
    ENV_NAME_BYTES,
    ENV_VALUE_BYTES,
    FILE_BYTES,
    LABEL_CHARS,
    LIST_ENTRIES,
    LIST_ENTRIES_MAX,
    MCP_SERVERS,
    MCP_TEXT_CHARS,
    NAME_BYTES,
    PACKAGE_CHARS,
    PACKAGES,
    PATH_BYTES,
    TIMEOUT_MAX_S,
)
from .wire import Problem, Request, is_execution_id

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PYTHON_ENV = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", re.ASCII)
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
_CALL_KIND = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_OPTION = re.compile(r"(?:^| )-")
LANGUAGES = ("python", "nodejs")
DEFAULT_TIMEOUT_S = 120.0
FILE_OPERATIONS = ("read", "write", "list", "mkdir", "move", "delete", "stat")


class Execute(NamedTuple):
    """Run code in a kernel; ``timeout_s`` counts from the start of the run.

    ``python_env`` names the interpreter that a session not yet used begins with; None for the image's. ``label`` is
    what the caller calls the session, where that is another text than its name. ``fresh`` says that the session is for
    this execution alone, and that the caller closes it. ``servers`` are MCP servers, which the code gets as proxies.
    """

    execution_id: str
    language: str
    session: str
    code: str
    envs: dict[str, str]
    timeout_s: float
    block: bool
    attach: bool
    wait_kernel: bool
    python_env: str | None = None
    label: str | None = None
    fresh: bool = False
    servers: tuple[str, ...] = ()


class Command(NamedTuple):
    """Run a program, argument vector as given, no shell.

    With ``shell_line`` it is ``sh -c LINE``, and the line may be given to a better shell than sh.
    """

    execution_id: str
    argv: list[str]
    cwd: str
    envs: dict[str, str]
    stdin: bytes
    timeout_s: float
    block: bool
    attach: bool
    shell_line: bool = False


class Install(NamedTuple):
    """Install packages: each a name with or without a version, a URL or a path, and never an option."""

    execution_id: str
    language: str
    packages: list[str]
    timeout_s: float
    block: bool
    attach: bool


class FileRequest(NamedTuple):
    """Something about a file or folder; ``offset`` is None if a write replaces the whole file."""

    operation: str
    path: str
    to: str
    offset: int | None
    length: int
    recursive: bool
    limit: int
    content: bytes


def parse_execute(request: Request) -> Execute:
    """The arguments of ``execute``; raises Problem with the field and the rule."""
    if len(request.blob) > CODE_BYTES:
        raise bad("blob", f"code of {len(request.blob)} bytes; at most {CODE_BYTES} are allowed")
    try:
        code = request.blob.decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad("blob", "code must be UTF-8") from error
    given = request.arguments
    language, session = parse_kernel(given)
    return Execute(
        parse_execution_id(given),
        language,
        session,
        # As editors of other systems leave it: neither language minds the one, %%bash and #! mind the other.
        code.removeprefix("\ufeff").replace("\r\n", "\n"),
        parse_envs(given.get("envs", {}), "envs"),
        _timeout(given),
        _block(given),
        parse_flag(given, "attach", default=False),
        parse_flag(given, "wait_kernel", default=True),
        _python_env(given, language),
        None if given.get("label") is None else _label(given["label"]),
        parse_flag(given, "fresh", default=False),
        _servers(given, language),
    )


def parse_command(request: Request, cwd: str) -> Command:
    """The arguments of ``command``; ``cwd`` is the workspace, where it runs if nothing else is said."""
    given = request.arguments
    args = given.get("args", [])
    if not isinstance(args, list) or len(args) > ARG_COUNT:
        raise bad("args", f"must be a list of at most {ARG_COUNT} texts")
    argv = [parse_text(value, "command", ARG_BYTES) for value in [given.get("command")]]
    argv += [parse_text(value, f"args[{index}]", ARG_BYTES) for index, value in enumerate(args)]
    if not argv[0]:
        raise bad("command", "must not be empty")
    place = at_home(parse_text(given.get("cwd", cwd), "cwd", PATH_BYTES), cwd)
    if not place.startswith("/"):
        raise bad("cwd", "must be an absolute path, or begin with '~/'")
    envs = parse_envs(given.get("envs", {}), "envs")
    execution_id = parse_execution_id(given)
    attach = parse_flag(given, "attach", default=False)
    line = parse_flag(given, "shell_line", default=False)
    return Command(execution_id, argv, place, envs, request.blob, _timeout(given), _block(given), attach, line)


def at_home(path: str, home: str) -> str:
    """A path with the home folder, which is the workspace, for a ``~`` in front, as a shell would have it."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def parse_install(request: Request) -> Install:
    """The arguments of ``install``; whether there are such packages is for the installer to say."""
    given = request.arguments
    packages = given.get("packages")
    if not isinstance(packages, list) or not 1 <= len(packages) <= PACKAGES:
        raise bad("packages", f"must be a list of 1 to {PACKAGES} texts")
    return Install(
        parse_execution_id(given),
        _language(given),
        [_package(value, f"packages[{index}]") for index, value in enumerate(packages)],
        _timeout(given),
        _block(given),
        parse_flag(given, "attach", default=False),
    )


def parse_files(request: Request) -> FileRequest:
    """The arguments of ``files``; whether the path is one that may be touched is not decided here."""
    given = request.arguments
    operation = given.get("operation")
    if operation not in FILE_OPERATIONS:
        raise bad("operation", f"must be one of {', '.join(FILE_OPERATIONS)}")
    if len(request.blob) > FILE_BYTES:
        raise bad("blob", f"content of {len(request.blob)} bytes; at most {FILE_BYTES} are taken at a time")
    path = parse_text(given.get("path", "" if operation == "list" else None), "path", PATH_BYTES)
    to = parse_text(given.get("to"), "to", PATH_BYTES) if operation == "move" else ""
    if not path and operation != "list":
        raise bad("path", "must not be empty")
    if not to and operation == "move":
        raise bad("to", "must not be empty")
    return FileRequest(
        operation,
        path,
        to,
        None if given.get("offset") is None else parse_offset(given),
        _whole(given, "length", FILE_BYTES, FILE_BYTES),
        parse_flag(given, "recursive", default=False),
        _whole(given, "limit", LIST_ENTRIES, LIST_ENTRIES_MAX),
        request.blob,
    )


def parse_call_kinds(given: dict[str, Any]) -> frozenset[str]:
    """The field ``calls`` of hello: the kinds of calls that the gateway answers."""
    value = given.get("calls", [])
    if not isinstance(value, list) or len(value) > CALL_KINDS:
        raise bad("calls", f"must be a list of at most {CALL_KINDS} names")
    for kind in value:
        if not isinstance(kind, str) or len(kind) > NAME_BYTES or not _CALL_KIND.fullmatch(kind):
            raise bad("calls", f"names have 1 to {NAME_BYTES} small letters, digits or '_', a letter first")
    return frozenset(value)


def parse_execution_id(given: dict[str, Any]) -> str:
    """The field ``execution_id``."""
    value = given.get("execution_id")
    if not isinstance(value, str) or not is_execution_id(value):
        raise bad("execution_id", "must be 1 to 255 printable ASCII characters without white space")
    return value


def parse_kernel(given: dict[str, Any]) -> tuple[str, str]:
    """The fields ``language`` and ``session``, by which a kernel is addressed."""
    language = _language(given)
    session = given.get("session", "default")
    if not isinstance(session, str) or len(session) > NAME_BYTES or not _SESSION.fullmatch(session):
        raise bad("session", f"must be 1 to {NAME_BYTES} letters, digits, '-' or '_', a letter or digit first")
    return language, session


def _label(value: object) -> str:
    label = parse_text(value, "label", 4 * LABEL_CHARS)
    if not 0 < len(label) <= LABEL_CHARS:
        raise bad("label", f"must have 1 to {LABEL_CHARS} characters")
    return label


def parse_offset(given: dict[str, Any]) -> int:
    """The field ``offset``, a position in an execution's output or in a file, in bytes."""
    value = given.get("offset", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise bad("offset", "must be a whole number of bytes, not negative")
    return value


def parse_envs(value: object, field: str) -> dict[str, str]:
    """A map of environment variables."""
    if not isinstance(value, dict) or len(value) > ENV_COUNT:
        raise bad(field, f"must be an object of at most {ENV_COUNT} variables")
    for name in value:
        if not isinstance(name, str) or len(name) > ENV_NAME_BYTES or not _ENV_NAME.fullmatch(name):
            raise bad(field, f"names must be letters, digits or '_', no digit first, at most {ENV_NAME_BYTES}")
    return {name: parse_text(text, f"{field}.{name}", ENV_VALUE_BYTES) for name, text in value.items()}


def _language(given: dict[str, Any]) -> str:
    value = given.get("language", "python")
    if value not in LANGUAGES:
        raise bad("language", f"must be one of {', '.join(LANGUAGES)}")
    return str(value)


def _package(value: object, field: str) -> str:
    text = parse_text(value, field, 4 * PACKAGE_CHARS)
    if not 1 <= len(text) <= PACKAGE_CHARS:
        raise bad(field, f"must have 1 to {PACKAGE_CHARS} characters")
    if not text.isprintable() or text != text.strip():
        raise bad(field, "must be one line of printable characters, without blanks at its ends")
    if _OPTION.search(text):
        raise bad(
            field, "must be a package, a URL or a path: options, and whatever else begins with '-', are not taken"
        )
    return text


def _python_env(given: dict[str, Any], language: str) -> str | None:
    if given.get("python_env") is None:
        return None
    value = parse_text(given["python_env"], "python_env", PATH_BYTES)
    if language != "python":
        raise bad("python_env", "is for language python alone")
    if "/" in value or value == "~":
        sound = value.isprintable() and (value == "~" or value[0] != "~" or value[1] == "/")
    else:
        sound = len(value) <= NAME_BYTES and _PYTHON_ENV.fullmatch(value) is not None
    if not sound:
        rule = (
            f"must be 1 to {NAME_BYTES} letters, digits, '_', '.', '+' or '-', or a path with a slash or '~/' in front"
        )
        raise bad("python_env", rule)
    return value


def parse_text(value: object, field: str, limit: int) -> str:
    """A text of at most so many bytes of UTF-8."""
    if not isinstance(value, str):
        raise bad(field, "must be a text")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise bad(field, "holds an unpaired surrogate") from error
    if size > limit or "\0" in value:
        raise bad(field, f"must have at most {limit} bytes and no NUL")
    return value


def _servers(given: dict[str, Any], language: str) -> tuple[str, ...]:
    value = given.get("servers", [])
    if not isinstance(value, list) or len(value) > MCP_SERVERS:
        raise bad("servers", f"must be a list of at most {MCP_SERVERS} names")
    if value and language != "python":
        raise bad("servers", "is for language python alone")
    return tuple(parse_text(name, f"servers[{index}]", MCP_TEXT_CHARS) for index, name in enumerate(value))


def _whole(given: dict[str, Any], field: str, default: int, most: int) -> int:
    value = given.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise bad(field, f"must be a whole number from 1 to {most}")
    return value


def _timeout(given: dict[str, Any]) -> float:
    return parse_seconds(given, DEFAULT_TIMEOUT_S)


def parse_seconds(given: dict[str, Any], default: float | None = None) -> float:
    """The field ``timeout_s``, in seconds; it must be there if there is no default."""
    value = given.get("timeout_s", default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise bad("timeout_s", "must be a number of seconds")
    if not 0 < value <= TIMEOUT_MAX_S:
        raise bad("timeout_s", f"must be more than 0 and at most {TIMEOUT_MAX_S:g} seconds")
    return float(value)


def _block(given: dict[str, Any]) -> bool:
    value = given.get("on_full", "block")
    if value not in ("block", "truncate"):
        raise bad("on_full", "must be 'block' or 'truncate'")
    return bool(value == "block")


def parse_flag(given: dict[str, Any], field: str, *, default: bool) -> bool:
    """A field that is true or false."""
    value = given.get(field, default)
    if not isinstance(value, bool):
        raise bad(field, "must be true or false")
    return value


def bad(field: str, rule: str) -> Problem:
    """The Problem of an argument that breaks a rule."""
    return Problem("bad_request", f"{field}: {rule}")
