"""Which MCP servers of this machine can run in the cluster."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sandglass.bridge import container_images
from sandglass.bridge.server_fit import is_near, registrable, why_not
from tests.endpoint import Json

HERE = {"/home/me", "/home/me/key.json", "~/notes", "./server.py", "server.py", "/", "C:\\data", "/srv", ".", "@x/y"}


def reason(fields: Json) -> str:
    return why_not(registrable(fields), HERE.__contains__)


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": {"TOKEN": "x/y"}},
        {"command": "uvx", "args": ["--from", "git+https://example.com/x", "x", "--root=/workspace"]},
        {"command": "npx", "args": ["-y", "@x/y"]},
        {"command": "python3", "args": ["-m", "http.server", "--db=https://db.example.com:5432/x"]},
        {"command": "npx", "args": ["x", "absent.py", "/absent", "~nobody/x"], "cwd": "/workspace"},
        {"url": "https://mcp.example.com/mcp"},
        {"url": "http://93.184.216.34:8080/"},
    ],
)
def test_what_downloads_itself_or_is_elsewhere_can_run(fields: Json) -> None:
    assert reason(fields) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"command": "docker", "args": ["run", "-i", "--rm", "-e", "TOKEN", "mcp/github", "stdio"]},
            "it runs in a container of docker, and agents choose no images here: an administrator can offer it to all "
            "sandboxes as a SandboxToolServer with 'image: mcp/github' in its 'stdio', beside 'command', the program "
            "that the image starts; the image must have what every sandbox's image has",
        ),
        ({"command": "podman", "args": ["run", "--new-option", "x", "sk-key"]}, "with 'image' in its 'stdio'"),
        ({"command": "/usr/bin/podman", "args": ["run", "x"]}, "it runs in a container of podman"),
        ({"command": "Docker.EXE", "args": []}, "it runs in a container of docker"),
        ({"command": "/home/me/bin/server"}, "'command' is a file of this machine"),
        ({"command": "/home/me/.venv/bin/python"}, "'command' is a file of this machine"),
        ({"command": "./server"}, "'command' is a file of this machine"),
        ({"command": "C:\\tools\\server.exe"}, "'command' is a file of this machine"),
        ({"command": "uvx", "args": ["x", "/home/me"]}, "'args[1]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["--root=/home/me"]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["file:///home/me"]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["~/notes"]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["C:\\data"]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["."]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "python", "args": ["server.py"]}, "'args[0]' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["x"], "env": {"CRED": "/home/me/key.json"}}, "'env.CRED' is a file or folder"),
        ({"command": "uvx", "cwd": "/srv"}, "'cwd' is a file or folder of this machine"),
        ({"command": "uvx", "cwd": "work"}, "'cwd' is a file or folder of this machine"),
        ({"command": "uvx", "args": ["postgresql://u:p@localhost/db"]}, "'args[0]' names localhost"),
        ({"command": "uvx", "env": {"URL": "http://[::1]:80/"}}, "'env.URL' names localhost"),
        ({"command": "uvx", "env": {"URL": "--x http://host.docker.internal"}}, "'env.URL' names localhost"),
        ({"command": "sandglass", "args": ["mcp"]}, "it is a bridge to sandboxes itself"),
        ({"command": "/opt/sandglass/bin/sandglass", "args": ["mcp"]}, "it is a bridge to sandboxes itself"),
        ({"command": "python", "args": ["-m", "sandglass", "mcp"]}, "it is a bridge to sandboxes itself"),
        ({"command": "uvx", "args": ["mcp-server-code-execution-mode", "run"]}, "it is a bridge to sandboxes itself"),
        ({"url": "http://localhost:3000/mcp"}, "'url' names a host that this machine or its network alone reaches"),
        ({"url": "ftp://example.com"}, "'url' must begin with http://"),
        ({"url": "https://"}, "'url' must begin with http://"),
        ({"url": "https://[x"}, "'url' must begin with http://"),
    ],
)
def test_what_needs_this_machine_is_left_out_with_the_reason(fields: Json, words: str) -> None:
    assert words in reason(fields)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "10.1.2.3",
        "192.168.0.1",
        "172.16.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
        "printer",
        "nas.local",
        "box.lan",
        "x.home.arpa",
        "host.docker.internal",
        "100.64.0.1",
    ],
)
def test_hosts_that_the_public_network_does_not_have(host: str) -> None:
    assert is_near(host)


@pytest.mark.parametrize("host", ["example.com", "mcp.example.com.", "93.184.216.34", "2606:4700::1111", "x.internal"])
def test_hosts_that_a_cluster_may_reach(host: str) -> None:
    assert not is_near(host)


def test_where_a_launcher_lies_and_the_paths_of_this_machine_are_not_registered() -> None:
    given = {"command": "/opt/homebrew/bin/npx", "env": {"PATH": "/opt/homebrew/bin", "Home": "/home/me", "A": "b"}}
    assert registrable(given) == {"command": "npx", "env": {"A": "b"}}
    assert registrable({"command": "C:\\node\\npx.CMD", "env": {"Path": "x"}}) == {"command": "npx"}
    assert registrable({"command": "/usr/bin/python3"}) == {"command": "/usr/bin/python3"}


@pytest.mark.parametrize(
    ("args", "image"),
    [
        (["run", "-i", "--rm", "mcp/github"], "mcp/github"),
        (["container", "run", "-it", "ghcr.io/x/y:1.2", "serve", "--key=k"], "ghcr.io/x/y:1.2"),
        (["run", "--rm", "-ie", "A=b", "-v/a:/b", "--name", "n", "--network=host", "r.example.com:5000/x@sha256:0a"],
         "r.example.com:5000/x@sha256:0a"),
        (["run", "-e", "A", "--env", "B=c", "--entrypoint", "sh", "-p8080:80", "--", "x", "y"], "x"),
        # Where the arguments leave it open, no word of them is shown: it may be a key.
        (["run", "--unknown", "x", "key"], ""),
        (["run", "-X", "x"], ""),
        (["run", "-", "x"], ""),
        (["run", "-e"], ""),
        (["run", "--rm", "--"], ""),
        (["run", "--rm", "a b"], ""),
        (["run", "a" * 256], ""),
        (["run", "a" * 255], "a" * 255),
        (["--context", "x", "run", "y"], ""),
        (["compose", "run", "x"], ""),
        (["container", "ls"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_image_that_docker_runs(args: list[str], image: str) -> None:
    assert container_images.image(args) == image


def test_any_text_is_judged_in_a_moment() -> None:
    chance = random.Random(3)
    letters = ["/", "~", "\\", "=", "-", "://", "[", "]", ":", "@", ".", "a", "é", "\ud800", "\u202e", "\n", "file:"]
    for _ in range(2000):
        text = "".join(chance.choices(letters, k=chance.randrange(1, 60)))
        for fields in (
            {"command": text or "x"},
            {"command": "uvx", "args": [text], "env": {text: text}},
            {"command": "docker", "args": ["run", text, text]},
            {"url": text},
        ):
            assert isinstance(reason(dict[str, Any](fields)), str)
    assert reason({"command": "uvx", "args": ["://" * 10_000, "a@" * 16_000, "[" * 32_000]}) == ""
