"""What options and variables of earlier systems mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandglass.bridge.plan import Contract, Tools, Wishes, kubernetes_size, plan
from sandglass.errors import ConfigurationError


@pytest.mark.parametrize(
    ("docker", "kubernetes"),
    [
        ("512m", "512Mi"),
        ("1g", "1Gi"),
        ("1.5G", "1.5Gi"),
        ("64kb", "64Ki"),
        ("1024", "1024"),
        ("1Gi", "1Gi"),
        ("x", "x"),
    ],
)
def test_sizes_of_docker_are_translated(docker: str, kubernetes: str) -> None:
    assert kubernetes_size(docker) == kubernetes


def test_our_own_contract_has_no_sandbox_of_its_own_to_configure() -> None:
    assert plan(Wishes(), {"KERNEL_ENV_A": "1", "MCP_BRIDGE_MEMORY": "1g"}).config == {}


def test_our_own_contract_alone_has_several_lists_of_tools() -> None:
    assert plan(Wishes(tools=Tools.ALL), {}).query == {"tools": "all"}
    assert plan(Wishes(), {}).query == {}
    with pytest.raises(ConfigurationError, match="--tools goes with the contract sandglass"):
        plan(Wishes(Contract.IPYTHON, tools=Tools.CORE), {})


def test_an_open_network_stays_open_unless_it_was_closed() -> None:
    assert plan(Wishes(Contract.IPYBOX), {}).config == {"allowed_domains": ["*"]}
    assert plan(Wishes(Contract.IPYBOX), {}).wants_open_network
    assert plan(Wishes(Contract.IPYBOX, is_closed=True), {}).config == {"allowed_domains": []}
    assert plan(Wishes(Contract.IPYBOX, allowed_domains=("example.com",)), {}).config == {
        "allowed_domains": ["example.com"]
    }
    assert plan(Wishes(Contract.CODE_MODE), {}).config == {"allowed_domains": []}


def test_defaults_that_are_open_are_told_at_the_start() -> None:
    home, network = plan(Wishes(Contract.IPYBOX), {}).warnings
    assert home.startswith("upload_file and download_file reach your home folder")
    assert network.startswith("the network is open to code")
    assert plan(Wishes(Contract.IPYTHON), {}).warnings == (network,)
    assert plan(Wishes(Contract.IPYBOX, allowed_dirs=(Path("/data"),), is_closed=True), {}).warnings == ()


def test_a_private_range_stays_closed_with_a_warning() -> None:
    planned = plan(Wishes(Contract.IPYTHON, allowed_domains=("192.168.1.0/24", "example.com", "127.0.0.1")), {})
    assert planned.config == {"allowed_domains": ["example.com"]}
    assert planned.warnings == (
        "--allowed-domain 192.168.1.0/24: private ranges stay closed",
        "--allowed-domain 127.0.0.1: private ranges stay closed",
    )


def test_of_a_sandbox_configuration_the_domains_count() -> None:
    given = {"network": {"allowedDomains": ["example.com"], "allowLocalBinding": True}, "filesystem": {}}
    planned = plan(Wishes(Contract.IPYTHON, sandbox_config=given), {})
    assert planned.config == {"allowed_domains": ["example.com"]}
    assert [warning.split("'")[1] for warning in planned.warnings] == ["network.allowLocalBinding", "filesystem"]


def test_only_marked_variables_reach_the_code_of_ipybox() -> None:
    planned = plan(Wishes(Contract.IPYBOX, envs={"B": "2"}), {"KERNEL_ENV_A": "1", "SECRET": "s"})
    assert planned.config["envs"] == {"A": "1", "B": "2"}
    assert "envs" not in plan(Wishes(Contract.IPYTHON), {"KERNEL_ENV_A": "1"}).config
    assert "'1'" not in repr(planned)


def test_the_variables_of_code_mode() -> None:
    environ = {
        "MCP_BRIDGE_IMAGE": "python:3.12-slim",
        "MCP_BRIDGE_MEMORY": "512m",
        "MCP_BRIDGE_CPUS": "2",
        "MCP_BRIDGE_TIMEOUT": "30",
        "MCP_BRIDGE_MAX_TIMEOUT": "120",
        "MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT": "300",
        "MCP_BRIDGE_OUTPUT_MODE": "json",
        "MCP_BRIDGE_PIDS": "128",
        "MCP_BRIDGE_ALLOW_SELF_SERVER": "1",
    }
    planned = plan(Wishes(Contract.CODE_MODE), environ)
    assert planned.config == {"allowed_domains": [], "memory": "512Mi", "cpus": "2", "idle_timeout": 300}
    assert planned.query == {"output": "json"}
    assert [warning.split()[0].rstrip(":") for warning in planned.warnings] == [
        "MCP_BRIDGE_PIDS",
        "MCP_BRIDGE_ALLOW_SELF_SERVER",
    ]
    assert planned.filled("run_python", {"code": "1"}) == {"code": "1", "timeout": 30}
    assert planned.filled("run_python", {"timeout": 999}) == {"timeout": 120}
    given = {"timeout": 7}
    assert planned.filled("run_python", given) is given
    assert planned.filled("other", given) is given
    assert plan(Wishes(Contract.CODE_MODE, image="registry.example.com/own:1"), environ).config["image"] == (
        "registry.example.com/own:1"
    )


def test_the_clients_own_time_out_leaves_room_for_partial_output() -> None:
    assert plan(Wishes(Contract.IPYTHON), {"MCP_TOOL_TIMEOUT": "60000"}).filled("execute", {}) == {"timeout_s": 58}
    assert plan(Wishes(Contract.IPYTHON), {"MCP_TOOL_TIMEOUT": "5000"}).filled("execute", {}) == {"timeout_s": 10}
    assert plan(Wishes(Contract.IPYTHON), {}).filled("execute", {}) == {}


@pytest.mark.parametrize("value", ["soon", "-1", "0", "1e300", "nan"])
def test_a_variable_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match="MCP_BRIDGE_TIMEOUT must be a number above 0"):
        plan(Wishes(Contract.CODE_MODE), {"MCP_BRIDGE_TIMEOUT": value})
