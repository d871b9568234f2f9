"""What a kernel says of its own crash."""

import signal

import pytest
from supervisors import Running


def test_last_words_and_crash_report(own: Running) -> None:
    client = own.ready()
    output = client.run("crash", "print('last words', flush=True)\nimport ctypes; ctypes.string_at(0)")
    assert output.text() == "last words\n"
    assert output.outcome is not None
    assert output.outcome["signal"] == signal.SIGSEGV
    assert "Segmentation fault" in output.text("stderr")


@pytest.mark.slow
def test_a_crash_report_that_the_code_asks_for(spare: Running) -> None:
    client = spare.ready()
    code = "import ctypes, faulthandler\nfaulthandler.enable({})\nctypes.string_at(0)"
    assert "Segmentation fault" in client.run("crash", code.format("all_threads=True")).text("stderr")
    assert client.run("own", code.format("open('report', 'w'), False")).text("stderr") == ""
    assert "Segmentation fault" in (spare.workspace / "report").read_text()


@pytest.mark.slow
def test_a_long_crash_report_has_its_beginning(spare: Running) -> None:
    """It says what happened and where; what made it long, as the names of many modules, comes last."""
    client = spare.ready()
    deep = "def deep(n): ctypes.string_at(0) if n == 0 else deep(n - 1)\ndeep(80)"
    output = client.run("crash", f"import ctypes\nexec(compile({deep!r}, 'x' * 300, 'exec'))")
    lines = output.text("stderr").splitlines()
    assert lines[0] == "Fatal Python error: Segmentation fault"
    assert "in string_at" in lines[3]
    assert any(line.endswith("bytes left out ...]") for line in lines)
    assert len(output.blob("stderr")) < 9 * 1024
