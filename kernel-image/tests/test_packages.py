"""What may be named as a package, the installers' command lines, and their words; without a supervisor."""

from pathlib import Path
from typing import Any

import pytest

from sandglass_supervisor.commands import packages
from sandglass_supervisor.execution.hint import allow_hosts
from sandglass_supervisor.link.arguments import Install, parse_install
from sandglass_supervisor.link.wire import Problem, Request


def parsed(**arguments: Any) -> Install:
    return parse_install(Request(b"r", "install", {"execution_id": "x", **arguments}, b""))


@pytest.mark.parametrize(
    "package",
    [
        "-r requirements.txt",
        "-rx",
        "--index-url=https://example.com/simple",
        "-",
        "a --pre",
        "a; rm -rf",
        "a\nb",
        "a\x00b",
        "a\tb",
        "a\x1b[0m",
        "a\u2028-b",
        "a\u00a0-b",
        "a\ud800",
        " a",
        "a ",
        "",
        " ",
        "a" * 513,
        7,
        None,
        ["a"],
    ],
)
def test_what_is_no_package_is_refused(package: object) -> None:
    with pytest.raises(Problem, match=r"packages\[1\]: ") as problem:
        parsed(packages=["fine", package])
    assert problem.value.code == "bad_request"


@pytest.mark.parametrize(
    "package",
    [
        "a",
        "a==1.0",
        "pandas >= 2, < 3",
        "a[extra]~=1.4; python_version > '3'",
        "name @ https://example.com/a-1.0-py3-none-any.whl",
        "git+https://example.com/team/a.git@main",
        "@scope/name@^1.2",
        "made/on the way/a-1.0.tgz",
        "é" * 512,
    ],
)
def test_what_is_a_package(package: str) -> None:
    assert parsed(packages=[package]).packages == [package]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "packages"),
        ({"packages": "a"}, "packages"),
        ({"packages": []}, "packages"),
        ({"packages": ["a"] * 65}, "packages"),
        ({"packages": ["a"], "language": "ruby"}, "language"),
        ({"packages": ["a"], "language": ["python"]}, "language"),
        ({"packages": ["a"], "timeout_s": 0}, "timeout_s"),
        ({"packages": ["a"], "execution_id": "a b"}, "execution_id"),
    ],
)
def test_arguments_that_break_a_rule(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(Problem, match=f"{field}: "):
        parsed(**arguments)


def test_sixty_four_packages_are_taken() -> None:
    assert len(parsed(packages=["a"] * 64).packages) == 64


def test_packages_come_behind_the_options() -> None:
    argv = packages.installer("python", ["a", "b"], "/w", {}).argv
    assert argv[-3:] == ["--", "a", "b"]
    program = packages.installer("nodejs", ["a"], "/w", {})
    assert program.argv[-2:] == ["--", "a"]
    assert program.argv[program.argv.index("--prefix") + 1] == "/w"


def test_what_the_environment_says_of_waiting_counts() -> None:
    plain = packages.installer("python", ["a"], "/w", {})
    assert (plain.once["PIP_RETRIES"], plain.again["PIP_RETRIES"]) == ("1", "3")
    ours = packages.installer("python", ["a"], "/w", {"PIP_RETRIES": "9"})
    assert (ours.once, ours.again) == ({}, {})
    plain = packages.installer("nodejs", ["a"], "/w", {})
    assert (plain.once["NPM_CONFIG_FETCH_RETRIES"], plain.again["NPM_CONFIG_FETCH_RETRIES"]) == ("0", "1")
    names = {
        "npm_config_fetch_retries": "3",
        "npm_config_fetch_retry_mintimeout": "7",
        "NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "9",
    }
    ours = packages.installer("nodejs", ["a"], "/w", names)
    assert (ours.once, ours.again) == ({}, {})


def test_only_paths_become_paths(tmp_path: Path) -> None:
    (tmp_path / "lodash").mkdir()
    (tmp_path / "made").mkdir()
    for path in ("made/a.tgz", "b.tgz"):
        (tmp_path / path).touch()
    wanted = ["lodash", "made/none", "@made/a", "https://example.com/a.tgz", "a@file:b.tgz", "/made/a.tgz"]
    wanted += ["made/a.tgz", "b.tgz", "made/none.tgz", "~/b.tgz"]
    named = packages.installer("nodejs", wanted, str(tmp_path), {}).argv[-len(wanted) :]
    assert named[:6] == wanted[:6]
    assert named[6:] == [f"{tmp_path}/{path}" for path in ("made/a.tgz", "b.tgz", "made/none.tgz", "b.tgz")]


def test_home_is_the_workspace() -> None:
    wanted = ["~/made/a.whl", "~a", "a~=1.0"]
    assert packages.installer("python", wanted, "/w", {}).argv[-3:] == ["/w/made/a.whl", "~a", "a~=1.0"]


@pytest.mark.parametrize(
    ("output", "hosts"),
    [
        ("HTTPSConnectionPool(host='example.com', port=443): Max retries exceeded with url: /x", ["example.com"]),
        ("(host='a.example.com', port=8443): x (host='a.example.com', port=8443)", ["a.example.com:8443"]),
        (
            "npm error network request to https://example.com/a failed, reason: getaddrinfo ENOTFOUND proxy",
            ["example.com"],
        ),
        ("fatal: unable to access 'https://example.com/a.git/': Could not resolve host: example.com", ["example.com"]),
        ("npm error 403 403 Forbidden - GET https://example.com:8443/a", ["example.com:8443"]),
        ("host='a', port=80 host='b', port=80 host='c', port=80 host='d', port=80", ["a", "b", "c"]),
        ("request to https://name:secret@example.com/a failed", ["example.com"]),
        ("request to http://[2001:db8::1]:81/a failed", ["[2001:db8::1]:81"]),
        ("host='a b', port=443 request to https://exa<mple/ failed, host='x', port=99999 request to http://[/", []),
        ("nothing of the kind", []),
    ],
)
def test_hosts_in_output(output: str, hosts: list[str]) -> None:
    assert packages.hosts_in(output) == hosts


@pytest.mark.parametrize(
    ("output", "unreached"),
    [
        (
            "npm error code E403\nnpm error 403 403 Forbidden - GET https://example.com/a\nnpm error 403 In most cases",
            True,
        ),
        ("npm error 403 403 Forbidden - GET https://example.com/a - you may not see this package\nnpm error", False),
        ("fatal: unable to access 'https://example.com/a.git/': CONNECT tunnel failed, response 403", True),
        ("fatal: unable to access 'https://example.com/a/': Received HTTP code 403 from proxy after CONNECT", True),
        (
            "(Caused by ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden')))",
            True,
        ),
        ("ERROR: HTTP error 403 while getting https://example.com/a.whl", False),
    ],
)
def test_a_refusal_of_the_egress_proxy_is_no_answer_of_the_host(output: str, unreached: bool) -> None:
    assert packages.is_unreached(output) == unreached
    assert packages.hosts_in(output) in ([], ["example.com"])


@pytest.mark.parametrize(
    ("output", "passes"),
    [
        ("OSError('Tunnel connection failed: 407 Proxy Authentication Required')", True),
        ("npm error 407 407 Proxy Authentication Required - GET https://example.com/a", True),
        ("CONNECT tunnel failed, response 503", True),
        ("Failed to establish a new connection: [Errno 111] Connection refused", True),
        ("Tunnel connection failed: 407 x\nTunnel connection failed: 403 Forbidden", False),
        ("npm error 403 403 Forbidden - GET https://example.com/a", False),
        ("ERROR: No matching distribution found for a", False),
    ],
)
def test_only_what_a_moment_may_end_is_tried_again(output: str, passes: bool) -> None:
    assert packages.may_pass(output) == passes


@pytest.mark.parametrize(
    "output",
    [
        "OSError('Tunnel connection failed: 407 Proxy Authentication Required')",
        "npm error 407 407 Proxy Authentication Required - GET https://example.com/a",
        "Received HTTP code 503 from proxy after CONNECT",
    ],
)
def test_a_proxy_that_is_busy_is_no_rule(output: str) -> None:
    told, helps = packages.no_network(["example.com"], output)
    assert "did not serve this sandbox at the moment" in told
    assert helps is None
    refused = f"{output}\nresponse 403 - x: Tunnel connection failed: 403 F"
    assert packages.no_network(["example.com"], refused)[1] == allow_hosts(["example.com"])


@pytest.mark.parametrize(
    ("answer", "hosts"),
    [
        ("  -i, --index-url <url>  Base URL of the index (default https://example.com/simple). This", ["example.com"]),
        ("npm warn something\nhttps://example.com:8443/npm/\n", ["example.com:8443"]),
        ("No module named pip", []),
        ("", []),
    ],
)
def test_index_in_the_configuration(answer: str, hosts: list[str]) -> None:
    assert packages.index_in(answer) == hosts


@pytest.mark.parametrize(
    ("output", "lacks"),
    [
        ("ERROR: Cannot find command 'git' - do you have 'git' installed and in your PATH?\n", True),
        ("npm error code ENOENT\nnpm error syscall spawn git\nnpm error path git\n", True),
        ("fatal: repository 'https://example.com/a.git/' not found\n", False),
        ("ERROR: No matching distribution found for git\n", False),
    ],
)
def test_an_image_without_git_is_told(output: str, lacks: bool) -> None:
    assert packages.lacks_git(output) is lacks


def test_an_unknown_index_is_called_so() -> None:
    assert packages.no_network([], "") == (
        "This sandbox has no network to the host of the package index.",
        allow_hosts([]),
    )


@pytest.mark.parametrize(
    "output",
    [
        "ProxyError('', OSError('Tunnel connection failed: 502 Bad Gateway - DNS lookup failed'))",
        "fatal: unable to access 'https://example.com/a.git/': CONNECT tunnel failed, response 502",
        "fatal: unable to access 'https://example.com/a/': Received HTTP code 502 from proxy after CONNECT",
    ],
)
def test_a_host_that_is_allowed_and_not_there_is_not_to_be_allowed(output: str) -> None:
    told, helps = packages.no_network(["example.com"], output)
    assert "'example.com' may be reached" in told
    assert "DNS" in told
    assert helps is None
    refused = f"{output}\nTunnel connection failed: 403 Forbidden"
    assert packages.no_network(["example.com"], refused)[1] == allow_hosts(["example.com"])
