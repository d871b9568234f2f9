"""What is told of commands that cannot be started."""

import shutil
from pathlib import Path
from unittest import mock

import pytest
from client import Client
from supervisors import Running

from sandglass_supervisor.commands.spawn_errors import unstarted
from sandglass_supervisor.link.arguments import Command


@pytest.mark.parametrize(
    ("argv", "cwd", "exit_code", "message"),
    [
        (
            ["no-such-program"],
            "/",
            127,
            "There is no program no-such-program here: an absolute path, or a name found in PATH, is needed.",
        ),
        (["./no/such"], "/", 127, "There is no program ./no/such here: an absolute path, or a name found in PATH, is"),
        (["/etc/passwd/x"], "/", 127, "There is no program /etc/passwd/x here"),
        (["/etc/passwd"], "/", 126, "/etc/passwd could not be started: Permission denied."),
        (["/etc"], "/", 126, "/etc is a folder, and no program."),
        (["true"], "/no/such/folder", None, "The working directory /no/such/folder does not exist."),
        (["true"], "/etc/passwd", None, "The working directory /etc/passwd is a file, and no folder."),
        (["true"], "/etc/passwd/x", None, "The working directory /etc/passwd/x does not exist."),
    ],
)
def test_what_cannot_start(
    client: Client, name: str, argv: list[str], cwd: str, exit_code: int | None, message: str
) -> None:
    outcome = client.command(name, *argv, cwd=cwd).outcome
    assert outcome is not None
    assert (outcome["status"], outcome["exit_code"]) == ("error", exit_code)
    assert outcome["message"].startswith(message)


def test_a_folder_without_permission_is_not_the_programs_fault(tmp_path: Path) -> None:
    command = Command("id", ["true"], str(tmp_path), {}, b"", 1.0, block=False, attach=False)
    with mock.patch("os.access", return_value=False):  # root may enter all
        outcome = unstarted(PermissionError(13, "Permission denied"), command, {})
    assert outcome.message == f"The working directory {tmp_path} cannot be entered: its mode forbids it."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "echo hi\n",
            "is no program (Exec format error). If it is a script, run it by its interpreter, as in 'sh ./P'",
        ),
        ("", "is no program"),
        ("#!/no/such -x\n", "cannot run: its first line names the interpreter /no/such, which is not there."),
        ("#! \t/no/such", "cannot run: its first line names the interpreter /no/such, which is not there."),
        (
            "#!/bin/sh\r\n",
            "cannot run: its lines end as on Windows, so that its /bin/sh is not found. This mends it: sed -i",
        ),
        ("\x7fELF of another", "cannot run here: it was built for another processor."),
    ],
)
def test_what_is_no_program_is_told_as_what_it_is(
    shared: Running, client: Client, name: str, content: str, message: str
) -> None:
    program = shared.workspace / name
    program.write_bytes(content.encode())
    program.chmod(0o755)
    outcome = client.command(name, f"./{name}").outcome
    assert outcome is not None
    assert (outcome["status"], outcome["exit_code"]) == ("error", 126)
    assert outcome["message"].startswith(f"./{name} {message.replace('./P', f'./{name}')}")


def test_a_program_of_another_system(shared: Running, client: Client, name: str) -> None:
    true = Path(shutil.which("true") or "/bin/true").read_bytes()
    program = shared.workspace / name
    program.write_bytes(true.replace(b"/ld-linux", b"/no-linux"))
    program.chmod(0o755)
    outcome = client.command(name, name, envs={"PATH": str(shared.workspace)}).outcome
    assert outcome is not None
    assert "it was built for a system with other libraries" in outcome["message"]
