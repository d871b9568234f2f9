"""The supervisor's settings: read once from the environment, at the door."""

import _socket  # see network_probe
import os
import sys
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple

from .commands import shell
from .limits import KERNELS_MOST, NAME_BYTES, PROBE_ADDRESSES, RUNTIME_DIR_BYTES
from .link.arguments import parse_envs
from .link.wire import Problem, parse_object
from .network_probe import Address

_OURS = "SANDGLASS_"
# What the image and the operator set for the code; everything else of the supervisor's environment stays with it.
_PASSED = frozenset(
    "PATH HOME LANG LANGUAGE TZ USER LOGNAME SHELL TERM TMPDIR LD_LIBRARY_PATH VIRTUAL_ENV MPLBACKEND MPLCONFIGDIR"
    " SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY"
    " http_proxy https_proxy all_proxy no_proxy"
    " GIT_SSL_CAINFO CARGO_HTTP_CAINFO JAVA_TOOL_OPTIONS OMP_NUM_THREADS".split()
)
_PASSED_PREFIXES = ("LC_", "XDG_", "PYTHON", "IPYTHON", "PIP_", "NODE_", "NPM_", "npm_", "UV_")
# For kernels alone, which choose it themselves: older images set it, and programs in other environments lack it.
_NOT_PASSED = ("MPLBACKEND", "module://matplotlib_inline.backend_inline")
# Bytecode is found stale by its source's length and second: two edits within one would run the first. What is installed
# brings its bytecode along; 'uv' does so when told to.
_DEFAULTS = {"PYTHONDONTWRITEBYTECODE": "1", "UV_COMPILE_BYTECODE": "1", "TERM": "dumb"}
_Z85_KEY_CHARS = 40
# As pools name languages, and as the link does.
_LANGUAGES = {"python": "python", "javascript": "nodejs"}
# What a sandbox has and a seat learns later; and what no seat can be.
_NOT_OF_SEATS = ("SANDGLASS_ENV", "SANDGLASS_REPLACED")


class Settings(NamedTuple):
    """All that the supervisor is told from outside; keys are Z85 text, sizes bytes.

    A seat is a pod that waits for a sandbox (see ``seat``); ``seat_languages`` are those whose kernels it starts ahead.
    """

    secret_key: str
    gateway_key: str
    sandbox_uid: str
    incarnation: str
    replaced: str | None
    address: str
    port: int
    runtime_dir: str
    workspace: str
    volumes: tuple[str, ...]
    cgroup_root: str
    max_processes: int | None
    max_sessions: int | None
    disk_limit_bytes: int | None
    closed_addresses: tuple[Address, ...]
    require_closed: bool
    mcp_packages: str
    mcp_secrets: str
    serves_tools: bool
    is_seat: bool
    seat_languages: tuple[str, ...]
    code_env: dict[str, str]

    def __repr__(self) -> str:
        """Without keys and without the code's environment."""
        return f"Settings(sandbox_uid={self.sandbox_uid!r}, incarnation={self.incarnation!r}, port={self.port})"


class BadSetting(Exception):
    """A variable is missing or wrong; the text names it and the rule."""


def take(environ: MutableMapping[str, str]) -> Settings:
    """Read the settings and remove every variable of ours from ``environ``."""
    ours = {name: environ.pop(name) for name in list(environ) if name.startswith(_OURS)}
    home = ours.get("SANDGLASS_WORKSPACE", environ.get("HOME", "/workspace"))
    return Settings(
        secret_key=_key(ours, "SANDGLASS_LINK_SECRET_KEY"),
        gateway_key=_key(ours, "SANDGLASS_GATEWAY_PUBLIC_KEY"),
        sandbox_uid=ours.get("SANDGLASS_SANDBOX_UID", ""),
        incarnation=ours.get("SANDGLASS_INCARNATION", ""),
        replaced=_word(ours, "SANDGLASS_REPLACED"),
        address=ours.get("SANDGLASS_LINK_ADDRESS", "*"),
        port=_number(ours, "SANDGLASS_LINK_PORT", 5710, 65535),
        runtime_dir=_runtime_dir(ours, "SANDGLASS_RUNTIME_DIR"),
        workspace=home,
        volumes=_folders(ours, "SANDGLASS_VOLUMES"),
        cgroup_root=ours.get("SANDGLASS_CGROUP_ROOT", "/sys/fs/cgroup"),
        max_processes=_perhaps(ours, "SANDGLASS_MAX_PROCESSES", 2**22),
        max_sessions=_sessions(ours, "SANDGLASS_MAX_SESSIONS"),
        disk_limit_bytes=_perhaps(ours, "SANDGLASS_DISK_LIMIT_BYTES", 2**62),
        closed_addresses=_addresses(ours, "SANDGLASS_CLOSED_ADDRESSES"),
        require_closed=_flag(ours, "SANDGLASS_REQUIRE_CLOSED", default=True),
        mcp_packages=ours.get("SANDGLASS_MCP_PACKAGES", os.path.join(sys.prefix, "mcp")),
        mcp_secrets=ours.get("SANDGLASS_MCP_SECRETS", "/etc/sandglass/mcp"),
        serves_tools=_flag(ours, "SANDGLASS_SERVES_TOOLS", default=False),
        is_seat=_is_seat(ours),
        seat_languages=_seat_languages(ours, "SANDGLASS_SEAT_LANGUAGES"),
        code_env=dict(_code_env(ours, environ, home)),
    )


def _code_env(ours: dict[str, str], environ: MutableMapping[str, str], home: str) -> Iterator[tuple[str, str]]:
    yield from {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": home, **_DEFAULTS}.items()
    yield "SHELL", shell.path(environ)
    passed = _PASSED | set(ours.get("SANDGLASS_PASS_ENV", "").replace(",", " ").split())
    yield from (
        (name, value)
        for name, value in environ.items()
        if (name in passed or name.startswith(_PASSED_PREFIXES)) and (name, value) != _NOT_PASSED
    )
    given = parse_object(ours.get("SANDGLASS_ENV", "{}").encode("utf-8", "replace"))
    try:
        yield from parse_envs(given, "SANDGLASS_ENV").items()
    except Problem as problem:
        raise BadSetting(str(problem)) from problem


def _key(ours: dict[str, str], name: str) -> str:
    value = ours.get(name, "")
    if len(value) != _Z85_KEY_CHARS:
        raise BadSetting(f"{name} must be a CURVE key: {_Z85_KEY_CHARS} characters of Z85, not {len(value)}")
    return value


def _runtime_dir(ours: dict[str, str], name: str) -> str:
    folder = ours.get(name, "/run/sandglass")
    if len(os.fsencode(folder)) > RUNTIME_DIR_BYTES:
        raise BadSetting(f"{name} must be at most {RUNTIME_DIR_BYTES} bytes long, so that sockets have room in it")
    return folder


def _folders(ours: dict[str, str], name: str) -> tuple[str, ...]:
    folders = tuple(folder for folder in ours.get(name, "").split(":") if folder)
    for folder in folders:
        if os.path.normpath(folder) != folder or not folder.startswith("/") or folder.strip("/") == "":
            raise BadSetting(f"{name} must be absolute paths without '.', '..' and '/' at the end, separated by ':'")
    return folders


def _addresses(ours: dict[str, str], name: str) -> tuple[Address, ...]:
    texts = [text for text in ours.get(name, "").split(",") if text]
    if len(texts) > PROBE_ADDRESSES:
        raise BadSetting(f"{name} must be at most {PROBE_ADDRESSES} addresses")
    return tuple(_address(text, name) for text in texts)


def _address(text: str, name: str) -> Address:
    host, _, port = text.rpartition(":")
    six = host.startswith("[") and host.endswith("]")
    try:
        host = host[1:-1] if six else host
        _socket.inet_pton(_socket.AF_INET6 if six else _socket.AF_INET, host)
    except (OSError, ValueError):
        raise BadSetting(
            f"{name} must be IP addresses with ports, separated by ',': 192.0.2.1:443,[2001:db8::1]:443"
        ) from None
    number = _number({name: port}, name, 0, 65535)
    return Address(host, number)


def _flag(ours: dict[str, str], name: str, *, default: bool) -> bool:
    value = ours.get(name, str(default).lower())
    if value not in ("true", "false"):
        raise BadSetting(f"{name} must be true or false, not {value[:40]!r}")
    return value == "true"


def _is_seat(ours: dict[str, str]) -> bool:
    if not _flag(ours, "SANDGLASS_SEAT", default=False):
        return False
    for name in _NOT_OF_SEATS:
        if name in ours:
            raise BadSetting(f"{name} must be absent where SANDGLASS_SEAT is true: the verb 'configure' brings it")
    if ours.get("SANDGLASS_SERVES_TOOLS") == "true":
        raise BadSetting("SANDGLASS_SERVES_TOOLS must not be true where SANDGLASS_SEAT is: a seat becomes a sandbox")
    return True


def _seat_languages(ours: dict[str, str], name: str) -> tuple[str, ...]:
    languages = [word for word in ours.get(name, "").split(",") if word]
    if languages and ours.get("SANDGLASS_SEAT") != "true":
        raise BadSetting(f"{name} must be absent or empty where SANDGLASS_SEAT is not true")
    if len(set(languages)) != len(languages) or not _LANGUAGES.keys() >= set(languages):
        raise BadSetting(f"{name} must be {' and '.join(_LANGUAGES)}, each at most once, separated by ','")
    return tuple(_LANGUAGES[language] for language in languages)


def _word(ours: dict[str, str], name: str) -> str | None:
    value = ours.get(name)
    if value and not (value.isascii() and value.isalpha() and len(value) <= NAME_BYTES):
        raise BadSetting(f"{name} must be a word of at most {NAME_BYTES} letters")
    return value


def _perhaps(ours: dict[str, str], name: str, most: int) -> int | None:
    return _number(ours, name, 0, most) if name in ours else None


def _sessions(ours: dict[str, str], name: str) -> int | None:
    most = _perhaps(ours, name, KERNELS_MOST)
    if most == 0:
        raise BadSetting(f"{name} must be a whole number from 1 to {KERNELS_MOST}, not '0'")
    return most


def _number(ours: dict[str, str], name: str, default: int, most: int) -> int:
    value = ours.get(name, str(default))
    if not (value.isascii() and value.isdigit() and int(value) <= most):
        raise BadSetting(f"{name} must be a whole number from 0 to {most}, not {value!r}")
    return int(value)
