"""Installing packages with real installers: who sees them, what an installation may name, why one fails."""

import pytest
from client import Client
from conftest import INDEX, REGISTRY
from installing import OK, begin, ended, install, make, pack
from supervisors import Running

from sandglass_supervisor.commands import packages


@pytest.fixture(scope="module")
def shared(box: Running) -> Running:
    """Here the shared supervisor is one that can install."""
    return box


@pytest.mark.slow
def test_a_running_python_kernel_sees_it_and_so_does_the_next(box: Running, client: Client, name: str) -> None:
    # Looked for in vain before: what the interpreter remembers of its folders must not hide it.
    absent = client.run(name + "1", "try:\n    import greet\nexcept ImportError:\n    print('absent')")
    assert absent.text() == "absent\n"

    output = install(client, name, make(box, "greet"))

    assert ended(output) == OK, output.text("stderr")
    assert "Successfully installed greet-1.0" in output.text()
    assert client.run(name + "2", "import greet; greet.word").only("result").blob == b"'hello'"
    client.ask("reset", language="python", session="default")
    assert client.run(name + "3", "import greet; greet.word").only("result").blob == b"'hello'"
    assert list(box.workspace.glob(".local/lib/python3*/site-packages/greet.py"))


def test_a_running_node_kernel_sees_it_and_so_does_the_next(box: Running, client: Client, name: str) -> None:
    absent = client.run(name + "1", "try { require('greet') } catch { console.log('absent') }", language="nodejs")
    assert absent.text() == "absent\n"

    output = install(client, name, pack(box, "greet"), language="nodejs")

    assert ended(output) == OK, output.text("stderr")
    assert client.run(name + "2", "require('greet')", language="nodejs").only("result").blob == b"'hello'"
    client.ask("reset", language="nodejs", session="default")
    imported = client.run(name + "3", "(await import('greet')).default", language="nodejs")
    assert imported.only("result").blob == b"'hello'"


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_newer_version_and_back_by_path(box: Running, client: Client, name: str) -> None:
    for number, version in enumerate(("2.0", "1.0")):
        assert ended(install(client, f"{name}{number}", make(box, "turn", version, version))) == OK
        told = client.command(
            f"{name}v{number}", f"{box.folder}/python/bin/python", "-c", "import turn; print(turn.word)"
        )
        assert told.text() == f"{version}\n"


@pytest.mark.slow
def test_a_specifier_that_what_is_there_fulfils(box: Running, client: Client, name: str) -> None:
    assert ended(install(client, name + "1", make(box, "pinned", "1.5"))) == OK
    output = install(client, name, "pinned >= 1, < 2")
    assert ended(output) == OK
    assert "already satisfied" in output.text()


@pytest.mark.slow
def test_versions_that_conflict(box: Running, client: Client, name: str) -> None:
    output = install(client, name, make(box, "torn", "1.0"), make(box, "torn", "2.0"))
    status, exit_code, message = ended(output)
    assert (status, exit_code) == ("error", 1)
    assert "conflict" in output.text("stderr").lower()
    assert "last lines say why" in message
    assert "allowed_domains" not in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "path"),
    [("python", "made/none-1.0-py3-none-any.whl"), ("nodejs", "./none.tgz"), ("nodejs", "made/none.tgz")],
)
def test_a_file_that_is_not_there(client: Client, name: str, language: str, path: str) -> None:
    output = install(client, name, path, language=language)
    status, exit_code, message = ended(output)
    assert status == "error"
    assert exit_code
    assert "no such file" in output.text("stderr").lower()
    assert "last lines say why" in message


@pytest.mark.slow
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
    client: Client, name: str, proxy: tuple[str, list[str]], language: str, wanted: str, host: str
) -> None:
    before = len(proxy[1])
    output = install(client, name, wanted, language=language)
    assert set(proxy[1][before:]) == {host.removesuffix(":8443")}
    assert len(proxy[1][before:]) <= 2
    status, exit_code, message = ended(output)
    assert status == "error"
    assert exit_code
    assert (output.text() + output.text("stderr")).count("Retrying") <= 1
    assert f"no network to '{host}'" in message
    assert (output.outcome or {})["hint"] == {"kind": "allow_hosts", "hosts": [host]}
    assert "password" not in message


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "nodejs"])
def test_a_proxy_that_does_not_know_the_sandbox_yet_is_asked_again(
    client: Client, name: str, proxy: tuple[str, list[str]], language: str
) -> None:
    file = {"python": "x-1.0-py3-none-any.whl", "nodejs": "x-1.0.0.tgz"}[language]
    before = len(proxy[1])
    output = install(client, name, f"https://{language}.busy.invalid/{file}", language=language)
    at_first = {"python": 2, "nodejs": 1}[language]
    assert proxy[1][before:].count(f"{language}.busy.invalid") > at_first
    status, _, message = ended(output)
    assert status == "error"
    assert "did not serve this sandbox at the moment (it answered 407" in message
    assert "allowed_domains" not in message


@pytest.mark.slow
def test_npm_tells_its_registry_when_asked(client: Client, name: str) -> None:
    question = packages.installer("nodejs", ["a"], "/", {}).question
    assert packages.index_in(client.command(name, *question).text()) == [REGISTRY]


@pytest.mark.slow
def test_files_of_the_workspace_do_not_stand_in_for_what_pip_needs(box: Running, client: Client, name: str) -> None:
    for module in ("pip", "random", "json"):
        (box.workspace / f"{module}.py").write_text("raise SystemExit('not this one')\n")
    try:
        assert ended(install(client, name, make(box, "apart"))) == OK
    finally:
        for module in ("pip", "random", "json"):
            (box.workspace / f"{module}.py").unlink()


@pytest.mark.slow
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
