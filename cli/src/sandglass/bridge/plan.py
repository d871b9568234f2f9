"""What the options and variables of earlier systems mean here. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from sandglass.errors import ConfigurationError

KERNEL_ENV = "KERNEL_ENV_"
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([bkmg]?)b?", re.IGNORECASE)
_UNITS = {"": "", "b": "", "k": "Ki", "m": "Mi", "g": "Gi"}
_DEFAULT_IMAGES = re.compile(r"(ghcr\.io/gradion-ai/ipybox|(docker\.io/)?(library/)?python)(:.*)?")
_IGNORED = {
    "MCP_BRIDGE_RUNTIME": "Kubernetes runs the sandbox",
    "MCP_BRIDGE_PIDS": "the installation limits processes",
    "MCP_BRIDGE_CONTAINER_USER": "each sandbox has a user of its own",
    "MCP_BRIDGE_STATE_DIR": "nothing is stored here",
    "MCP_BRIDGE_ALLOW_SELF_SERVER": "no bridge runs in a sandbox",
}
SERVERS_CONFIG = "MCP_SERVERS_CONFIG"
"""The variable that names a file with MCP servers for code-mode."""

_OPEN = "the network is open to code, as far as the installation lets it: --sandbox or --allowed-domain closes it"
_HOME = (
    "upload_file and download_file reach your home folder and that for temporary files, but no hidden files there: "
    "name other folders with --allowed-dir"
)


class Tools(str, Enum):
    """Which tools of our own contract are listed; any can be called."""

    CORE = "core"
    ALL = "all"


class Contract(str, Enum):
    """Whose tools the client sees."""

    SANDGLASS = "sandglass"
    IPYBOX = "ipybox"
    IPYTHON = "ipython"
    CODE_MODE = "code-mode"


@dataclass(frozen=True)
class Wishes:
    """What was said on the command line."""

    contract: Contract = Contract.SANDGLASS
    allowed_domains: tuple[str, ...] = ()
    allowed_dirs: tuple[Path, ...] = ()
    is_closed: bool = False
    image: str | None = None
    memory: str | None = None
    envs: Mapping[str, str] = field(default_factory=dict, repr=False)
    sandbox_config: Mapping[str, Any] | None = None
    tools: Tools | None = None


@dataclass(frozen=True)
class Plan:
    """What the bridge does: the sandbox's configuration, the query, the time-out that is filled in, and warnings."""

    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    tool: str = ""
    argument: str = ""
    default: float | None = None
    most: float | None = None
    wants_open_network: bool = False
    warnings: tuple[str, ...] = ()

    def filled(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments with the time-out of the client's own settings; the same object if nothing changes."""
        if tool != self.tool:
            return arguments
        given = arguments.get(self.argument)
        value = self.default if given is None else given
        if isinstance(value, int | float) and not isinstance(value, bool) and self.most is not None:
            value = min(value, self.most)
        return arguments if value == given else {**arguments, self.argument: value}


def plan(wishes: Wishes, environ: Mapping[str, str]) -> Plan:
    """The plan for a contract, of options and the variables of its system."""
    query = _query(wishes, environ)
    if wishes.contract is Contract.SANDGLASS:
        return Plan(query=query)
    warnings: list[str] = []
    config: dict[str, Any] = {}
    envs = dict(wishes.envs)
    if wishes.contract is Contract.IPYBOX:
        envs = of_code(environ) | envs
        if not wishes.allowed_dirs:
            warnings.append(_HOME)
    domains, wants_open = _network(wishes, warnings)
    if wants_open:
        warnings.append(_OPEN)
    if domains is not None:
        config["allowed_domains"] = domains
    image = wishes.image
    memory = wishes.memory
    if wishes.contract is Contract.CODE_MODE:
        image = image or environ.get("MCP_BRIDGE_IMAGE")
        memory = memory or environ.get("MCP_BRIDGE_MEMORY")
        _take_code_mode(environ, config, warnings)
    if image and not _DEFAULT_IMAGES.fullmatch(image):
        config["image"] = image
    if memory:
        config["memory"] = kubernetes_size(memory)
    if envs:
        config["envs"] = envs
    fill = _fill(wishes.contract, environ)
    return Plan(config, query, *fill, wants_open_network=wants_open, warnings=tuple(warnings))


def of_code(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that are marked for the code, under the names that the code knows."""
    return {name.removeprefix(KERNEL_ENV): value for name, value in variables.items() if name.startswith(KERNEL_ENV)}


def kubernetes_size(docker: str) -> str:
    """A size of Docker (512m, 1g) as one of Kubernetes, to which 512m is half a byte; any other text stays."""
    match = _SIZE.fullmatch(docker)
    return docker if match is None else match[1] + _UNITS[match[2].lower()]


def is_private(domain: str) -> bool:
    """Whether an entry of a list of hosts is an address or range that no installation opens by a list."""
    try:
        network = ipaddress.ip_network(domain, strict=False)
    except ValueError:
        return False
    return network.is_private or network.is_loopback or network.is_link_local


def _network(wishes: Wishes, warnings: list[str]) -> tuple[list[str] | None, bool]:
    asked = list(wishes.allowed_domains)
    for key, value in (wishes.sandbox_config or {}).items():
        if key == "network" and isinstance(value, dict) and isinstance(value.get("allowedDomains"), list):
            asked += [each for each in value["allowedDomains"] if isinstance(each, str)]
            warnings += [
                f"--sandbox-config: 'network.{name}' has no meaning here" for name in value if name != "allowedDomains"
            ]
        else:
            warnings.append(f"--sandbox-config: '{key}' has no meaning here: no sandbox sees this machine's files")
    domains = [each for each in asked if not is_private(each)]
    warnings += [f"--allowed-domain {each}: private ranges stay closed" for each in asked if is_private(each)]
    if asked or wishes.is_closed or wishes.sandbox_config is not None or wishes.contract is Contract.CODE_MODE:
        return domains, False
    # Its network was open without a list.
    return ["*"], True


def _take_code_mode(environ: Mapping[str, str], config: dict[str, Any], warnings: list[str]) -> None:
    if environ.get("MCP_BRIDGE_CPUS"):
        config["cpus"] = environ["MCP_BRIDGE_CPUS"]
    if environ.get("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT"):
        config["idle_timeout"] = int(_number(environ, "MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", 0) or 0)
    warnings += [f"{name} has no meaning here: {why}" for name, why in _IGNORED.items() if environ.get(name)]


def _query(wishes: Wishes, environ: Mapping[str, str]) -> dict[str, str]:
    if wishes.contract is Contract.SANDGLASS:
        return {} if wishes.tools is None else {"tools": wishes.tools.value}
    if wishes.tools is not None:
        raise ConfigurationError("--tools goes with the contract sandglass; the others have one list")
    mode = environ.get("MCP_BRIDGE_OUTPUT_MODE") if wishes.contract is Contract.CODE_MODE else None
    return {"output": mode} if mode else {}


def _fill(contract: Contract, environ: Mapping[str, str]) -> tuple[str, str, float | None, float | None]:
    if contract is Contract.IPYTHON and environ.get("MCP_TOOL_TIMEOUT"):
        # Two seconds less than the client's own time-out, so that partial output comes before it.
        return "execute", "timeout_s", max((_number(environ, "MCP_TOOL_TIMEOUT", 0) or 0) / 1000 - 2, 10), None
    if contract is Contract.CODE_MODE:
        return (
            "run_python",
            "timeout",
            _number(environ, "MCP_BRIDGE_TIMEOUT", None),
            _number(environ, "MCP_BRIDGE_MAX_TIMEOUT", None),
        )
    return "", "", None, None


def _number(environ: Mapping[str, str], name: str, otherwise: float | None) -> float | None:
    value = environ.get(name)
    if not value:
        return otherwise
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise ConfigurationError(f"{name} must be a number above 0, not {value[:40]!r}")
    return int(number) if number.is_integer() else number
