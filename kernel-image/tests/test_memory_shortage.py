"""What an execution is told when Linux kills a process for lack of memory while it runs: on accounts that it fakes."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import Client, Output
from supervisors import Running

LIMIT = "the sandbox's memory limit of 512 MiB (peak 511 MiB)"
WARNING = (
    f"While this ran, a process in the sandbox was killed at {LIMIT}; what that one was to do may be missing. Use less"
    " memory, or start a sandbox with more."
)


class Account:
    """The account of a container's memory; code of a test that runs ``kills`` is what Linux would be."""

    def __init__(self, root: Path, version: str) -> None:
        folder = root / ("memory" if version == "v1" else "")
        folder.mkdir(parents=True)
        names = {
            "v1": ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
            "v2": ("memory.max", "memory.peak", "memory.events"),
        }[version]
        if version == "v2":
            (root / "cgroup.controllers").write_text("memory\n")
        limit, peak, self.events = (folder / name for name in names)
        limit.write_text("536870912\n")
        peak.write_text("535822336\n")
        self.events.write_text("oom_kill 3\n")

    def kills(self, count: int) -> str:
        """A shell's command after which so many processes have been killed."""
        return f"echo oom_kill {count} >{shlex.quote(str(self.events))}"


@pytest.fixture(scope="module", params=["v1", "v2"])
def sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Client, Account]]:
    folder = tmp_path_factory.mktemp("m")
    account = Account(folder / "cgroup", request.param)
    running = Running(folder, SANDGLASS_CGROUP_ROOT=str(folder / "cgroup"), SANDGLASS_MAX_PROCESSES="40")
    yield running.ready(), account
    running.stop()


@pytest.fixture
def client(sandbox: tuple[Client, Account]) -> Client:
    return sandbox[0]


@pytest.fixture
def account(sandbox: tuple[Client, Account]) -> Account:
    sandbox[1].events.write_text("oom_kill 3\n")
    return sandbox[1]


def told(output: Output) -> tuple[object, ...]:
    """Status, exit code, signal, and the warning."""
    assert output.outcome is not None
    return tuple(output.outcome.get(field) for field in ("status", "exit_code", "signal", "warning"))


@pytest.mark.parametrize(("end", "exit_code", "signal"), [("exit 137", 137, None), ("kill -9 $$", None, 9)])
def test_the_end_of_what_was_killed(
    client: Client, account: Account, name: str, end: str, exit_code: int | None, signal: int | None
) -> None:
    output = client.command(name, "sh", "-c", f"{account.kills(4)}; {end}")
    assert told(output) == ("oom_killed", exit_code, signal, None)
    assert output.outcome is not None
    assert output.outcome["message"] == f"Killed at {LIMIT}: use less memory, or start a sandbox with more."


@pytest.mark.parametrize(("end", "status"), [("exit 0", "ok"), ("exit 136", "ok"), ("exit 138", "ok")])
def test_a_command_that_goes_on_is_warned(client: Client, account: Account, name: str, end: str, status: str) -> None:
    exit_code = int(end.split()[1])
    assert told(client.command(name, "sh", "-c", f"{account.kills(4)}; {end}")) == (status, exit_code, None, WARNING)
    # What was then is nothing to the next one.
    assert told(client.command(name + "2", "true")) == ("ok", 0, None, None)


@pytest.mark.parametrize("end", ["exit 0", "exit 137", "kill -9 $$"])
def test_nobody_is_warned_without_a_kill(client: Client, account: Account, name: str, end: str) -> None:
    status, *_, warning = told(client.command(name, "sh", "-c", f"{account.kills(3)}; {end}"))
    assert (status, warning) == ("error" if end.startswith("kill") else "ok", None)


@pytest.mark.slow
def test_a_command_whose_time_is_up_is_warned_too(client: Client, account: Account, name: str) -> None:
    output = client.command(name, "sh", "-c", f"{account.kills(4)}; sleep 60", timeout_s=1.0)
    assert told(output) == ("timeout", None, 15, WARNING)
    assert output.outcome is not None
    assert "memory" not in output.outcome["message"]


def test_a_command_is_told_all_its_warnings(client: Client, account: Account, name: str) -> None:
    left = "i=0; while [ $i -lt 21 ]; do sleep 60 & i=$((i+1)); done"
    status, _, _, warning = told(client.command(name, "sh", "-c", f"{account.kills(4)}; {left}"))
    more = "It left more than 20 processes running, so all that it had started was ended."
    assert (status, warning) == ("ok", f"{more} {WARNING}")


@pytest.mark.parametrize("language", ["python", "nodejs"])
def test_a_run_that_goes_on_is_warned(client: Client, account: Account, name: str, language: str) -> None:
    execute = {
        "python": "import os; kept = 1; os.system({!r})",
        "nodejs": "let kept = 1; require('child_process').execSync({!r})",
    }[language]
    output = client.run(name, execute.format(account.kills(4)), language=language)
    assert told(output) == ("ok", None, None, WARNING)
    assert output.outcome is not None
    assert output.outcome["kernel_restarted"] is False
    after = client.run(name + "2", "kept", language=language)
    assert (after.only("result").blob, told(after)[3]) == (b"1", None)


@pytest.mark.slow
def test_a_killed_kernel_is_told_once(client: Client, account: Account, name: str) -> None:
    code = f"import os; os.system({account.kills(5)!r}); os.kill(os.getpid(), 9)"
    assert told(client.run(name, code)) == ("oom_killed", None, 9, None)
    assert told(client.run(name + "2", "1")) == ("ok", None, None, None)


def test_a_kernel_that_dies_otherwise_is_warned(client: Client, account: Account, name: str) -> None:
    code = f"import os; os.system({account.kills(4)!r}); os._exit(3)"
    assert told(client.run(name, code)) == ("kernel_died", 3, None, WARNING)
