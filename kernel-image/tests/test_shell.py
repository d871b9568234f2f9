"""Command lines: bash runs them, as it runs what code gives to `!`; where the image has none, sh does and says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from client import PATIENCE, Client, Output
from supervisors import Running

from sandglass_supervisor.commands import shell
from sandglass_supervisor.settings import take

OF_BASH = {
    "(echo out; echo err >&2) &> both; cat both": "out\nerr\n",
    "[[ abc == a* ]] && echo matches": "matches\n",
    "echo 'V=7' > vars; source ./vars; echo $V": "7\n",
    "diff <(printf 'a\\n') <(printf 'a\\n') && echo same": "same\n",
    "echo {1..3} {a..c}": "1 2 3 a b c\n",
    "a=(x y z); echo ${a[1]} ${#a[@]}": "y 3\n",
    "set -o pipefail; false | cat; echo $?": "1\n",
    "cat <<< 'here'": "here\n",
    "printf '%s|' $'a\\tb'": "a\tb|",
    "v=abcdef; echo ${v:1:2} ${v^^} ${v/b/-}": "bc ABCDEF a-cdef\n",
    "declare -A m; m[k]=v; echo ${m[k]}": "v\n",
    "function f { local x=1; echo $((x++)) $x; }; f": "1 2\n",
    "for ((i = 0; i < 3; i++)); do echo -n $i; done": "012",
    "echo -e 'a\\tb'": "a\tb\n",
    "echo one |& cat": "one\n",
    "time -p true 2>/dev/null; echo $BASH_SUBSHELL": "0\n",
    "mapfile -t lines < <(printf 'a\\nb\\n'); echo ${#lines[@]}": "2\n",
}
OF_BOTH = [
    "ls -la | head -n 1 >/dev/null 2>&1; echo $?",
    "cat <<'END'\n[ -f x ] && echo ${HOME}\nEND",
    "for i in 1 2 3; do echo $i; done; case a in (a) echo b;; esac",
    "echo \"$(date +%s)\" $((1 + 1)) 'it''s' {a,b}",
    "f() { echo f; }; f; . ./vars; test -e /tmp -a -d /tmp",
    "grep -E '^(a|b)+$' <x >y 2>z; x=; test \"$x\" = ''",
    "",
]


def line(client: Client, name: str, text: str, **more: object) -> Output:
    return client.command(name, "sh", "-c", text, shell_line=True, **more)  # type: ignore[arg-type] # passed on


def told(output: Output) -> tuple[str, int | None, str | None]:
    assert output.outcome is not None
    return output.outcome["status"], output.outcome["exit_code"], output.outcome.get("warning")


@pytest.mark.parametrize("text", OF_BASH)
def test_bash_runs_a_line(client: Client, name: str, home: Path, text: str) -> None:
    output = line(client, name, text, cwd=str(home))
    assert (output.text(), told(output)) == (OF_BASH[text], ("ok", 0, None)), output.text("stderr")


def test_who_asks_for_sh_gets_sh(client: Client, name: str) -> None:
    assert client.command(name, "sh", "-c", "echo ${BASH_VERSION:-none}").text() == "none\n"
    assert client.command(name + "2", "echo", "-c", "[[", shell_line=True).text() == "-c [[\n"
    # What programs mean by a shell is the system's own.
    assert client.run(name + "3", "import os; os.system('echo ${BASH_VERSION:-none}'); 0").text() == "none\n"


def test_a_line_is_one_process_that_signals_end(client: Client, name: str) -> None:
    text = "trap 'echo cleaned; exit 3' INT; echo {o,i}n; sleep 30 & wait"
    client.ask("command", execution_id=name, command="sh", args=["-c", text], shell_line=True, attach=True)
    client.until(lambda: client.output(name).text() == "on in\n", PATIENCE, "the first line")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    output = client.finish(name)
    assert told(output)[:2] == ("interrupted", 3)
    assert output.text() == "on in\ncleaned\n"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A supervisor whose PATH has no bash, as that of an image of one's own may have none."""
    folder = tmp_path_factory.mktemp("bare")
    programs = folder / "bin"
    programs.mkdir()
    for program in ("sh", "cat", "printf"):
        (programs / program).symlink_to(f"/bin/{program}" if program == "sh" else f"/usr/bin/{program}")
    running = Running(folder, PATH=str(programs))
    yield running
    running.stop()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("cat <(echo x)", "'<('"),
        ("[[ -f x ]] && echo y", "'[['"),
        ("a=(1 2); echo", "'a=('"),
        ("echo 1 &> both", "'&>'"),
        ("echo {1..3}", "'{1..3'"),
        ("set -euo pipefail\necho", "'pipefail'"),
        ("true && source ./vars", "source"),
    ],
)
def test_without_bash_the_answer_says_what_sh_does_not_know(bare: Running, name: str, text: str, named: str) -> None:
    client = bare.client()
    client.hello()
    warning = told(line(client, name, text))[2] or ""
    assert warning.startswith("This image has no bash, so sh ran the command line")
    assert named in warning
    assert "SHELL=/bin/sh" in client.command(name + "2", "sh", "-c", "echo SHELL=$SHELL").text()


@pytest.mark.parametrize("text", OF_BOTH)
def test_what_sh_knows_needs_no_warning(text: str) -> None:
    assert shell.warning(text) == ""


def test_the_shell_of_the_code_is_bash_unless_the_image_says_otherwise() -> None:
    keys = {"SANDGLASS_LINK_SECRET_KEY": "k" * 40, "SANDGLASS_GATEWAY_PUBLIC_KEY": "g" * 40}
    assert take({**keys, "PATH": "/usr/bin:/bin"}).code_env["SHELL"] in ("/usr/bin/bash", "/bin/bash")
    assert take({**keys, "PATH": "/none"}).code_env["SHELL"] == "/bin/sh"
    assert take({**keys, "SHELL": "/bin/zsh"}).code_env["SHELL"] == "/bin/zsh"
