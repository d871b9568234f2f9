"""Figures of matplotlib are shown whichever backend draws them, and the kernel's own backend is the kernel's alone."""

import pytest
from client import Client, Output
from supervisors import Running

SESSION = "figures"
INLINE = b"'module://matplotlib_inline.backend_inline'"


def pictures(output: Output) -> int:
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"
    return sum(record.json.get("mime") == "image/png" for record in output.records)


def run(client: Client, name: str, code: str) -> Output:
    return client.run(name, code, session=SESSION, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("plt.plot([1]); plt.show()", 1),
        ("plt.plot([1]); plt.show(); plt.show()", 1),
        ("plt.plot([1]); plt.show(); plt.plot([2]); plt.show()", 2),
        ("plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]); plt.show()", 2),
        ("figure, axes = plt.subplots(); axes.plot([1]); figure.show()", 1),
        ("figure, axes = plt.subplots(); axes.plot([1]); figure", 1),
        ("figure, axes = plt.subplots(); axes.plot([1]); display(figure)", 1),
        ("plt.plot([1]); plt.savefig('saved.png')", 0),
        ("plt.show()", 0),
    ],
)
@pytest.mark.parametrize("backend", ["Agg", "svg"])
def test_a_backend_without_a_window(client: Client, name: str, backend: str, code: str, shown: int) -> None:
    begin = f"import matplotlib\nmatplotlib.use({backend!r})\nimport matplotlib.pyplot as plt\n"
    assert pictures(run(client, name, begin + code)) == shown
    assert pictures(run(client, f"{name}-2", "plt.show()" if "show" in code else "plt.close('all')")) == 0
    client.ask("close", session=SESSION)


def test_the_kernels_own(client: Client, name: str) -> None:
    begin = "import matplotlib, matplotlib.pyplot as plt\n"
    assert pictures(run(client, name, begin + "plt.plot([1]); plt.show()")) == 1
    assert pictures(run(client, f"{name}-2", "plt.plot([1])")) == 1
    assert run(client, f"{name}-3", "matplotlib.get_backend()").only("result").blob in (INLINE, b"'inline'")
    assert pictures(run(client, f"{name}-4", "plt.switch_backend('agg'); plt.plot([1]); plt.show()")) == 1
    client.ask("close", session=SESSION)


VARIABLES = "import os, subprocess; print(subprocess.run('env', capture_output=True, text=True).stdout)"
KERNELS = ("MPLBACKEND", "JPY_", "IPYKERNEL", "PYDEVD", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "FORCE_COLOR")


@pytest.mark.slow
def test_programs_of_a_kernel_inherit_nothing_of_it(client: Client, name: str) -> None:
    for turn, code in enumerate((VARIABLES, "import matplotlib.pyplot\n" + VARIABLES)):
        lines = run(client, f"{name}-{turn}", code).text().splitlines()
        assert [line for line in lines if line.startswith(KERNELS)] == []
    output = client.run(
        f"{name}-node",
        "console.log(require('child_process').execSync('env').toString())",
        language="nodejs",
        session=SESSION,
    )
    assert [line for line in output.text().splitlines() if line.startswith(KERNELS)] == []
    client.ask("close", session=SESSION)
    client.ask("close", session=SESSION, language="nodejs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("image", "given", "passed"),
    [
        ("module://matplotlib_inline.backend_inline", "", ""),
        ("svg", "", "svg"),
        ("module://matplotlib_inline.backend_inline", "pdf", "pdf"),
    ],
)
def test_who_chooses_a_backend_gets_it(tmp_path: object, image: str, given: str, passed: str) -> None:
    from pathlib import Path

    chosen = f'{{"MPLBACKEND":"{given}"}}' if given else "{}"
    running = Running(Path(str(tmp_path)), MPLBACKEND=image, SANDGLASS_ENV=chosen)
    try:
        client = running.ready()
        assert client.command("command", "sh", "-c", "echo -n $MPLBACKEND").text() == passed
        code = "import matplotlib; matplotlib.get_backend()"
        backend = run(client, "kernel", code).only("result").blob
        assert backend == (repr(passed).encode() if passed else INLINE) or backend == b"'inline'"
    finally:
        running.stop()
