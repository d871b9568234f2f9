"""Programs that run without a kernel."""

import hashlib
import os
import signal
import stat
import time
from pathlib import Path

import pytest
from client import PATIENCE, Client, Refused
from conftest import Running

from sandglass_supervisor.limits import DRAINED_COMMANDS


def test_output_and_exit_code(client: Client, name: str) -> None:
    output = client.command(name, "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (output.text(), output.text("stderr")) == ("out\n", "err\n")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["exit_code"], output.outcome["signal"]) == ("ok", 7, None)


def test_success(client: Client, name: str) -> None:
    outcome = client.command(name, "true").outcome
    assert outcome is not None
    assert (outcome["status"], outcome["exit_code"]) == ("ok", 0)


def test_arguments_meet_no_shell(client: Client, name: str) -> None:
    assert client.command(name, "printf", "%s|", "a b", "$HOME", "*", "; ls").text() == "a b|$HOME|*|; ls|"


def test_stdin(client: Client, name: str) -> None:
    data = bytes(range(256)) * 4096
    digest = client.command(name, "sha256sum", stdin=data).text().split()[0]
    assert digest == hashlib.sha256(data).hexdigest()
    assert client.command(name + "2", "cat").text() == ""


def test_working_directory_and_variables(shared: Running, client: Client, name: str) -> None:
    output = client.command(name, "sh", "-c", 'pwd; echo "$GREETING $NEW"', envs={"NEW": "x"})
    assert output.text().splitlines() == [str(shared.workspace), "hi x"]
    assert client.command(name + "2", "pwd", cwd="/usr").text() == "/usr\n"


def test_the_home_folder_is_the_workspace(shared: Running, client: Client, name: str) -> None:
    (shared.workspace / name).mkdir()
    assert client.command(name + "1", "pwd", cwd="~").text() == f"{shared.workspace}\n"
    assert client.command(name + "2", "pwd", cwd=f"~/{name}").text() == f"{shared.workspace}/{name}\n"
    with pytest.raises(Refused, match="cwd: must be an absolute path, or begin with '~/'"):
        client.command(name + "3", "pwd", cwd="~root")


def test_the_group_may_write_what_is_made(shared: Running, client: Client, name: str) -> None:
    """Sandboxes that mount the same claim are different users of one group."""
    client.command(name, "sh", "-c", f"mkdir {name}; echo x >{name}/of-a-command; mkdir {name}/folder")
    client.run(name + "2", f"open('{name}/of-a-kernel', 'w').close()")
    client.write(f"{name}/of-the-tool", b"x")
    folder = shared.workspace / name
    modes = {path.name: f"{stat.S_IMODE(path.stat().st_mode):o}" for path in folder.iterdir()}
    assert modes == {"of-a-command": "664", "of-a-kernel": "664", "of-the-tool": "664", "folder": "775"}


def test_signal(client: Client, name: str) -> None:
    outcome = client.command(name, "sh", "-c", "kill -9 $$").outcome
    assert outcome is not None
    assert (outcome["status"], outcome["signal"], outcome["exit_code"]) == ("error", 9, None)


def test_time_out_ends_the_group(hasty: Running, name: str) -> None:
    client = hasty.ready()
    script = "trap '' TERM; sleep 60 & echo $!; wait; wait; sleep 60"
    began = time.monotonic()
    output = client.command(name, "bash", "-c", script, timeout_s=1.0)
    assert time.monotonic() - began < 1 + 10
    assert output.outcome is not None
    assert output.outcome["status"] == "timeout"
    child = output.text().strip()
    assert client.command(name + "2", "sh", "-c", f"kill -0 {child}").outcome["exit_code"] != 0  # type: ignore[index]


def test_interrupt(client: Client, name: str) -> None:
    client.ask("command", execution_id=name, command="sleep", args=["60"], attach=True)
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    outcome = client.finish(name).outcome
    assert outcome is not None
    assert (outcome["status"], outcome["signal"]) == ("interrupted", 2)


def test_what_it_leaves_running_does_not_hold_it(client: Client, name: str) -> None:
    output = client.command(name, "sh", "-c", "sleep 60 & echo $!")
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"
    os.kill(int(output.text()), signal.SIGKILL)  # it runs still


@pytest.mark.slow
@pytest.mark.parametrize("how", ["", "nohup ", "setsid "])
def test_what_it_leaves_running_may_write_on(shared: Running, client: Client, name: str, home: Path, how: str) -> None:
    go, written = home / "go", home / "written"
    wait = f"until [ -e {go} ]; do sleep 0.02; done"
    script = f"{wait}; echo one; echo two >&2; for i in $(seq 20000); do echo $i; done; echo three >{written}"
    output = client.command(name, "sh", "-c", f"{how}sh -c '{script}' & echo started")
    assert output.outcome is not None
    assert (output.text(), output.outcome["status"]) == ("started\n", "ok")
    assert "further output is dropped" in output.outcome["warning"]
    go.touch()
    client.until(lambda: written.exists() and written.read_text(), PATIENCE, "the last word of what was left running")
    assert written.read_text() == "three\n"


def test_what_it_leaves_running_with_its_output_in_a_file_is_no_warning(client: Client, name: str) -> None:
    output = client.command(name, "sh", "-c", f"(sleep 0.3; echo late) >{name} 2>&1 & echo started")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome.get("warning")) == ("ok", None)
    client.until(lambda: client.read(name) == b"late\n", PATIENCE, "what it wrote late")


def programs(pids: list[str]) -> set[str]:
    """The names of programs that run as these processes."""
    return {Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}


@pytest.mark.slow
def test_pipes_of_what_was_left_running_are_given_back(own: Running) -> None:
    client = own.ready()
    before = own.descriptors()
    script = "for i in 1 2; do (until [ -e go ]; do sleep 0.1; done; exec yes) & echo $!; done"
    several = [f"left{i}" for i in range(DRAINED_COMMANDS // 2)]
    for name in several:
        client.ask("command", execution_id=name, command="sh", args=["-c", script], attach=True)
    left = [pid for name in several for pid in client.finish(name).text().split()]
    left += client.command("one-more", "sh", "-c", script).text().split()
    client.until(lambda: own.descriptors() == before + DRAINED_COMMANDS + 2, PATIENCE, "what it keeps open")
    (own.workspace / "go").touch()
    client.until(lambda: programs(left) == {"yes"}, PATIENCE, "all to write")
    began = own.cpu_s()
    time.sleep(1)
    assert own.cpu_s() - began < 0.5
    assert own.descriptors() == before + DRAINED_COMMANDS + 2
    client.command("end", "kill", *left)
    client.until(lambda: own.descriptors() <= before, PATIENCE, "its pipes closed")


@pytest.mark.alone
@pytest.mark.parametrize("on_full", ["block", "truncate"])
def test_what_it_leaves_writing_without_end_holds_nobody_up(own: Running, on_full: str) -> None:
    client = own.ready()
    began = time.monotonic()
    output = client.command("left", "sh", "-c", "echo started; yes & yes & yes & exit 3", on_full=on_full)
    assert time.monotonic() - began < 15
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["exit_code"]) == ("ok", 3)
    assert output.text().startswith(("started", "y"))
    took = []
    for _ in range(3):
        began = time.monotonic()
        client.ask("list")
        took.append(time.monotonic() - began)
    assert min(took) < 1


@pytest.mark.slow
def test_what_it_leaves_writing_holds_nobody_up_though_nobody_reads(own: Running) -> None:
    client = own.ready()
    left = ("-c", "yes & yes & yes & exit 3")
    client.ask("command", execution_id="left", command="sh", args=left, attach=False, on_full="truncate")
    client.until(lambda: client.ask("list")["executions"][-1]["state"] == "done", PATIENCE, "its end")


@pytest.mark.slow
def test_sixteen_at_a_time(own: Running) -> None:
    client = own.ready()
    for i in range(16):
        client.ask("command", execution_id=f"c{i}", command="sleep", args=["60"], attach=True)
    with pytest.raises(Refused, match="rejected"):
        client.ask("command", execution_id="c16", command="true")
    assert client.run("code", "'still served'").only("result").blob == b"'still served'"
    for i in range(16):
        client.ask("interrupt", execution_id=f"c{i}")
        client.finish(f"c{i}")
    assert client.command("c17", "true").outcome["status"] == "ok"  # type: ignore[index]


def test_bytes_that_are_no_text(client: Client, name: str) -> None:
    assert client.command(name, "printf", r"a\377b\303").text() == "a\ufffdb\ufffd"


@pytest.mark.alone
def test_while_a_kernel_spins(client: Client, name: str) -> None:
    client.start(name, "while True: pass")
    took = []
    for turn in range(3):
        began = time.monotonic()
        assert client.command(f"{name}{turn}", "echo", "quick").text() == "quick\n"
        took.append(time.monotonic() - began)
    assert min(took) < 0.5
    client.ask("interrupt", execution_id=name)
    assert client.finish(name).outcome["status"] == "interrupted"  # type: ignore[index]


@pytest.mark.slow
def test_no_file_is_larger_than_the_places_for_files(tmp_path: Path, name: str) -> None:
    account = tmp_path / "cgroup"
    account.mkdir()
    (account / "cgroup.controllers").touch()
    (account / "memory.max").write_text(f"{8 << 20}\n")
    running = Running(tmp_path, SANDGLASS_CGROUP_ROOT=str(account), SANDGLASS_DISK_LIMIT_BYTES=str(32 << 20))
    try:
        client = running.ready()
        fits = client.command(name, "fallocate", "-l", str(32 << 20), "fits")
        assert fits.outcome is not None
        assert fits.outcome["status"] == "ok", fits.text("stderr")
        larger = client.command(name + "2", "fallocate", "-l", str((32 << 20) + 1), "larger")
        assert "File too large" in larger.text("stderr")
        made = client.run(
            name + "3", "import os; os.posix_fallocate(os.open('x', os.O_CREAT | os.O_RDWR), 0, 33 << 20)"
        )
        assert "File too large" in str(made.only("error").json["message"])
    finally:
        running.stop()
