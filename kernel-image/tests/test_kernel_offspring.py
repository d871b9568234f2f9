"""What code in a kernel starts ends with the kernel, in whatever session it hides; nothing else, and not sooner."""

import json
import os
import signal
import sys

import pytest
from bombs import HYDRA, LEAVER, WHOSE, is_over, living
from client import PATIENCE, Client, Output
from supervisors import Running

# It is in a session of its own from the start, and says that it is on.
START = {
    "python": """
import os, signal, subprocess
env = {{**os.environ, {whose!r}: {name!r}}}
program = subprocess.Popen({argv!r}, start_new_session=True, stdout=subprocess.PIPE, text=True, env=env)
print(program.stdout.readline(), end='', flush=True)
""",
    "nodejs": """
const env = {{ ...process.env, [{whose!r}]: {name!r} }};
const options = {{ detached: true, stdio: ['ignore', 'pipe', 'ignore'], env }};
const [program, ...args] = {argv!s};
const started = require('child_process').spawn(program, args, options);
await new Promise((done) => started.stdout.once('data', (data) => {{ process.stdout.write(data); done(); }}));
""",
}
DEAF = {
    "python": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    "nodejs": "const deaf = () => { setImmediate(deaf); }; for (;;) try { await new Promise(() => {}) } catch {}",
}
SUICIDE = {"python": "os.kill(os.getpid(), signal.SIGKILL)", "nodejs": "process.kill(process.pid, 'SIGKILL')"}


def status(output: Output) -> object:
    assert output.outcome is not None
    return output.outcome["status"]


def start(client: Client, name: str, script: str, *argv: str, language: str = "python", session: str = "s") -> None:
    """Have a kernel start a program that says ``on``."""
    call = [sys.executable, "-I", "-S", "-c", script, *argv]
    code = START[language].format(argv=json.dumps(call) if language == "nodejs" else call, whose=WHOSE, name=name)
    output = client.run(f"{name}-starts", code, language=language, session=session)
    assert (status(output), output.text()) == ("ok", "on\n")


STAYS = "import time; print('on', flush=True); time.sleep(60)"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "nodejs"])
@pytest.mark.parametrize("how", ["reset", "close", "death", "time-out"])
def test_all_of_it_ends_with_the_kernel(hasty: Running, name: str, language: str, how: str) -> None:
    client = hasty.ready()
    start(client, name, LEAVER, name, language=language)
    assert not is_over(hasty, name)
    if how == "death":
        assert status(client.run("dies", SUICIDE[language], language=language, session="s")) == "kernel_died"
    elif how == "time-out":
        ended = client.run("deaf", DEAF[language], language=language, session="s", timeout_s=3.0)
        assert ended.outcome is not None
        assert (ended.outcome["status"], ended.outcome["kernel_restarted"]) == ("timeout", True)
    else:
        client.ask(how, language=language, session="s")
    # At once: it is over when that is answered.
    assert is_over(hasty, name)


def test_what_goes_on_forking_ends_with_the_kernel(spare: Running, name: str) -> None:
    client = spare.ready()
    start(client, name, HYDRA, "20", name)
    assert not is_over(spare, name)
    assert client.ask("reset", session="s") == {"state": "idle"}
    client.until(lambda: is_over(spare, name), PATIENCE, "its end")
    assert client.run("after", "1 + 1", session="s").only("result").blob == b"2"


@pytest.mark.slow
def test_nothing_else_ends_with_a_kernel(spare: Running, name: str) -> None:
    client = spare.ready()
    start(client, name + "-ends", STAYS)
    start(client, name + "-other", STAYS, session="other")
    start(client, name + "-node", STAYS, language="nodejs")
    script = "setsid sleep 60 & nohup sleep 60 & echo"
    client.command("leaves", "sh", "-c", script, envs={WHOSE: name + "-left"})
    client.ask("command", execution_id="runs", command="sleep", args=["60"], envs={WHOSE: name + "-runs"})
    kept = {"other": 1, "node": 1, "left": 2, "runs": 1}
    try:
        client.ask("reset", session="s")
        assert {whose: len(living(f"{name}-{whose}")) for whose in ("ends", *kept)} == {"ends": 0, **kept}
        client.ask("close", session="s")
        assert {whose: len(living(f"{name}-{whose}")) for whose in kept} == kept
    finally:
        for pid in (pid for whose in kept for pid in living(f"{name}-{whose}")):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "nodejs"])
def test_it_outlives_runs_and_interrupts(spare: Running, name: str, language: str) -> None:
    client = spare.ready()
    endless = {"python": "print('on', flush=True)\nwhile True: pass", "nodejs": "console.log('on'); for (;;);"}
    start(client, name, STAYS, language=language)
    client.start("endless", endless[language], language=language, session="s")
    client.until(lambda: client.output("endless").text() == "on\n", PATIENCE, "output")
    client.ask("interrupt", language=language, session="s")
    ended = client.finish("endless").outcome
    assert ended is not None
    assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", False)
    assert len(living(name)) == 1
    client.ask("close", language=language, session="s")
    assert living(name) == []
