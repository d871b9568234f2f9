"""``sys.exit`` and its like end a run as they end a program, with its verdict; the kernel and its variables stay."""

import re
from pathlib import Path
from typing import Any

import pytest
from client import Client, Output

pytestmark = pytest.mark.usefixtures("session")

SESSION = "exits"
PASSING = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue({})\n"


def outcome(output: Output) -> dict[str, Any]:
    assert output.outcome is not None
    assert output.outcome["kernel_restarted"] is False
    return output.outcome


def is_kept(client: Client, name: str, language: str) -> None:
    output = client.run(f"{name}-kept", "kept", session=SESSION, language=language)
    assert (outcome(output)["status"], output.only("result").blob) == ("ok", b"1")
    assert "warning" not in outcome(output)


@pytest.mark.parametrize(
    "leave",
    [
        "sys.exit(0)",
        "sys.exit()",
        "sys.exit(False)",
        "raise SystemExit",
        "raise SystemExit(None)",
        "raise SystemExit(0)",
        "exit()",
        "quit()",
        "exit(0)",
        "await asyncio.sleep(0); sys.exit(0)",
        "async def leaves(): sys.exit(0)\nawait leaves()",
        "async def leaves(): sys.exit(0)\nawait asyncio.create_task(leaves())",
        PASSING.format(True) + "unittest.main()",
        "get_ipython().run_cell_magic('time', '', 'sys.exit(0)')",
        "import argparse; argparse.ArgumentParser(prog='p').parse_args(['--help'])",
    ],
)
def test_a_good_end(client: Client, name: str, leave: str) -> None:
    output = client.run(name, f"import asyncio, sys\nkept = 1\n{leave}\nkept = 2", session=SESSION)
    assert (outcome(output)["status"], outcome(output)["message"]) == ("ok", "")
    assert [record for record in output.records if record.kind == "error"] == []
    assert "To exit" not in output.text("stderr")
    is_kept(client, name, "python")


@pytest.mark.parametrize(
    ("leave", "message", "said"),
    [
        ("sys.exit(1)", "SystemExit: 1", ""),
        ("sys.exit(True)", "SystemExit: True", ""),
        ("exit(3)", "SystemExit: 3", ""),
        ("quit('no data')", "SystemExit: no data", "no data\n"),
        ("sys.exit('no data')", "SystemExit: no data", "no data\n"),
        ("await asyncio.sleep(0); sys.exit('')", "SystemExit: ", "\n"),
        ("raise SystemExit([1])", "SystemExit: [1]", "[1]\n"),
    ],
)
def test_a_bad_end(client: Client, name: str, leave: str, message: str, said: str) -> None:
    output = client.run(name, f"import asyncio, sys\nkept = 1\n{leave}\nkept = 2", session=SESSION)
    assert (outcome(output)["status"], outcome(output)["message"]) == ("error", message)
    assert (output.text("stderr"), output.only("error").blob) == (said, message.encode())
    is_kept(client, name, "python")


def test_a_cell_of_a_magic(client: Client, name: str) -> None:
    assert outcome(client.run(name, "%%capture\nimport sys\nsys.exit(0)", session=SESSION))["status"] == "ok"
    output = client.run(f"{name}-2", "%%capture\nsys.exit(4)", session=SESSION)
    assert (outcome(output)["status"], outcome(output)["message"]) == ("error", "SystemExit: 4")


def test_a_failing_test(client: Client, name: str) -> None:
    output = client.run(name, PASSING.format(False) + "unittest.main()", session=SESSION)
    assert outcome(output)["status"] == "error"
    assert "AssertionError: False is not true" in output.text("stderr")


def test_exit_in_a_module_and_in_a_script(client: Client, name: str, home: Path) -> None:
    (home / "leaving.py").write_text("def leave(code):\n    exit(code)\n")
    (home / "script.py").write_text("print('script')\nquit(0)\n")
    output = client.run(name, f"kept = 1\n%cd -q {home}\nimport leaving\nleaving.leave(5)", session=SESSION)
    assert outcome(output)["message"] == "SystemExit: 5"
    output = client.run(f"{name}-script", "%run script.py", session=SESSION)
    assert (outcome(output)["status"], output.text()) == ("ok", "script\n")
    is_kept(client, name, "python")


def test_bare_exit(client: Client, name: str) -> None:
    client.run(name, "kept = 1", session=SESSION)
    assert outcome(client.run(f"{name}-exit", "exit", session=SESSION))["status"] == "ok"
    is_kept(client, name, "python")


def test_a_task_that_leaves_well_between_runs_is_no_trouble(client: Client, name: str) -> None:
    code = "import asyncio, sys\nkept = 1\nasync def leaves(): sys.exit(0)\ntask = asyncio.create_task(leaves())"
    client.run(name, code, session=SESSION)
    output = client.run(f"{name}-2", "await task", session=SESSION)
    assert (outcome(output)["status"], output.text("stderr")) == ("ok", "")
    is_kept(client, name, "python")


@pytest.mark.parametrize(
    "leave",
    [
        "process.exit(0)",
        "process.exit()",
        "process.exit('0')",
        "process.exitCode = 0; process.exit()",
        "await null; process.exit(0)",
        "setTimeout(() => process.exit(0), 1); await new Promise(() => {})",
        "try { process.exit(0) } catch (error) { console.error(error); process.exit(1) }",
        "require('process').exit(0)",
        "import { exit } from 'node:process'; exit(0)",
    ],
)
def test_a_good_end_in_node(client: Client, name: str, leave: str) -> None:
    output = client.run(name, f"var kept = 1; {leave}; kept = 2", session=SESSION, language="nodejs")
    assert (outcome(output)["status"], outcome(output)["message"]) == ("ok", "")
    assert [record.kind for record in output.records] == ["outcome"]
    is_kept(client, name, "nodejs")


def test_a_last_promise_that_leaves(client: Client, name: str) -> None:
    code = "(async () => { await null; process.exit(0); console.log('no end'); })()"
    output = client.run(name, code, session=SESSION, language="nodejs")
    assert (outcome(output)["status"], [record.kind for record in output.records]) == ("ok", ["outcome"])


@pytest.mark.parametrize(
    ("leave", "code"), [("process.exit(1)", 1), ("process.exitCode = 2; process.exit()", 2), ("process.exit(true)", 1)]
)
def test_a_bad_end_in_node(client: Client, name: str, leave: str, code: int) -> None:
    output = client.run(name, f"var kept = 1; {leave}; kept = 2", session=SESSION, language="nodejs")
    assert (outcome(output)["status"], outcome(output)["message"]) == ("error", f"Exit: process.exit({code})")
    assert re.search(rb"cell-\d+:1", output.only("error").blob)
    is_kept(client, name, "nodejs")
