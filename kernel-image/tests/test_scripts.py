"""Scripts and cells that magics run: what fails in them is an error of the run, as if it stood in the code itself."""

from pathlib import Path

import pytest
from client import Client, Output

FAILING = "seen = 5\ndef fail():\n    return 1 / 0\nprint('before')\nfail()\n"


def write(home: Path, text: str, suffix: str = ".py") -> str:
    (home / f"script{suffix}").write_text(text)
    return f"{home.name}/script{suffix}"


def error(output: Output) -> tuple[str, str]:
    """What the outcome says, and the traceback; of the error that the gateway tells, which is the last one."""
    assert output.outcome is not None
    assert output.outcome["status"] == "error"
    last = [record for record in output.records if record.kind == "error"][-1]
    assert output.outcome["message"] == f"{last.json['name']}: {last.json['message']}"
    return output.outcome["message"], last.blob.decode()


@pytest.mark.parametrize("options", ["", "-i ", "-t ", "-p "])
def test_a_script_that_fails(client: Client, home: Path, name: str, options: str) -> None:
    output = client.run(name, f"%run {options}{write(home, FAILING)}", session="scripts")
    message, traceback = error(output)
    assert message == "ZeroDivisionError: division by zero"
    assert "script.py:3, in fail()" in traceback
    assert output.text().startswith("before\n")
    assert client.run(name + "2", "seen", session="scripts").only("result").blob == b"5"
    client.ask("close", session="scripts")


@pytest.mark.slow
def test_a_module_that_fails(client: Client, home: Path, name: str) -> None:
    write(home, FAILING)
    message, traceback = error(client.run(name, f"%cd -q {home}\n%run -m script", session="scripts"))
    assert message == "ZeroDivisionError: division by zero"
    assert "script.py:3, in fail()" in traceback
    client.ask("close", session="scripts")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def", "SyntaxError: invalid syntax (script.py, line 1)"),
        ("raise ExceptionGroup('both', [OSError(1)])", "ExceptionGroup: both (1 sub-exception)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
    ],
)
def test_other_ends_of_scripts(client: Client, home: Path, name: str, code: str, message: str) -> None:
    assert error(client.run(name, f"%run {write(home, code)}"))[0] == message
    assert client.run(name + "2", "6 * 7").only("result").blob == b"42"


@pytest.mark.slow
def test_the_same_in_a_cell_that_awaits(client: Client, home: Path, name: str) -> None:
    code = f"await __import__('asyncio').sleep(0)\n%run {write(home, FAILING)}"
    assert error(client.run(name, code, session="scripts"))[0] == "ZeroDivisionError: division by zero"
    later = "await __import__('asyncio').sleep(0, 7)"
    assert client.run(name + "2", later, session="scripts").outcome["status"] == "ok"  # type: ignore[index]
    client.ask("close", session="scripts")


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "import sys; sys.exit()", "print('done')"])
def test_scripts_that_end_well(client: Client, home: Path, name: str, code: str) -> None:
    output = client.run(name, f"%run {write(home, code)}")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("ok", "")


def test_an_exit_that_is_to_be_ignored(client: Client, home: Path, name: str) -> None:
    output = client.run(name, f"%run -e {write(home, 'import sys; sys.exit(3)')}")
    assert [record.kind for record in output.records] == ["outcome"]
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"


@pytest.mark.slow
def test_a_cell_of_a_magic(client: Client, name: str) -> None:
    output = client.run(name, "%%capture kept\nprint('before')\n1 / 0", session="scripts")
    assert error(output)[0] == "ZeroDivisionError: division by zero"
    kept = client.run(name + "2", "kept.stdout", session="scripts")
    assert kept.only("result").blob == b"'before\\n'"
    client.ask("close", session="scripts")


@pytest.mark.parametrize(
    "code",
    [
        "%timeit 1 / 0",
        "%prun 1 / 0",
        "%%time\n1 / 0",
        "%%python\n1 / 0",
        "%%bash\nexit 3",
        "%load missing.py",
        "%run missing.py",
        "%missing",
    ],
)
def test_magics_that_raise(client: Client, name: str, code: str) -> None:
    error(client.run(name, code))


@pytest.mark.slow
def test_code_that_runs_a_cell_sees_to_its_failure_itself(client: Client, name: str) -> None:
    output = client.run(name, "failed = get_ipython().run_cell('1 / 0')\nfailed.success", session="scripts")
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"
    assert output.only("error").json["name"] == "ZeroDivisionError"
    assert output.only("result").blob == b"False"
    client.ask("close", session="scripts")


UNSHOWN = "class Unshown:\n    def _repr_html_(self): return 1 / 0\n"


@pytest.mark.slow
@pytest.mark.parametrize("code", ["Unshown()", "display(Unshown())"])
def test_what_cannot_be_shown_is_told_and_no_failure(client: Client, name: str, code: str) -> None:
    output = client.run(name, UNSHOWN + code, session="scripts")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("ok", "")
    assert output.only("error").json["name"] == "ZeroDivisionError"
    later = client.run(name + "2", "await __import__('asyncio').sleep(0, 7)", session="scripts")
    assert (later.outcome["status"], later.only("result").blob) == ("ok", b"7")  # type: ignore[index]
    client.ask("close", session="scripts")
