"""Code that puts something of its own in the place of the standard streams: nothing of later runs is lost."""

import pytest
from client import Client

TEE = """
import sys
class Tee:
    def __init__(self, *to): self.to = to
    def write(self, text): [stream.write(text) for stream in self.to]
    def flush(self): {flush}
before = sys.{stream}
"""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("flush", ["[stream.flush() for stream in self.to]", "pass"])
def test_what_comes_through_something_else_belongs_to_its_run(
    client: Client, name: str, stream: str, flush: str
) -> None:
    first = TEE + "sys.{stream} = Tee(before)\nprint(1, file=sys.{stream})"
    assert client.run(name + "1", first.format(stream=stream, flush=flush)).text(stream) == "1\n"
    for number in ("2", "3"):
        code = f"print({number}, file=sys.{stream})"
        assert client.run(name + number, code).text(stream) == f"{number}\n"
    back = f"sys.{stream} = before\nprint(4, file=sys.{stream})"
    assert client.run(name + "4", back).text(stream) == "4\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(
    ("instead", "why"),
    [
        ("closed", "ValueError: I/O operation on closed file"),
        ("Mute()", "AttributeError: 'Mute' object has no attribute 'flush'"),
        ("None", "AttributeError: 'NoneType' object has no attribute 'flush'"),
        ("Full()", "OSError: full"),
    ],
)
def test_what_cannot_be_flushed_costs_nothing(client: Client, name: str, stream: str, instead: str, why: str) -> None:
    code = f"""
import os, sys
class Mute:
    def write(self, text): pass
class Full(Mute):
    def flush(self): raise OSError('full')
with open(os.devnull, 'w') as closed:
    pass
sys.{stream} = {instead}
"""
    for number, more in enumerate(("variable = 'kept'", "'shown'", "display('shown')", "1 / 0")):
        output = client.run(f"{name}{number}", code + more, timeout_s=20)
        assert output.outcome is not None
        assert output.outcome["status"] == ("error" if "/" in more else "ok")
        assert f"sys.{stream} is the kernel's own again: it could not be flushed ({why}" in output.text("stderr")
        shown = [record.blob for record in output.records if record.kind in ("result", "display")]
        assert shown == ([b"'shown'"] if "shown" in more else [])
        told = [b"ZeroDivisionError" in record.blob for record in output.records if record.kind == "error"]
        assert told == ([True] if "/" in more else [])
        after = client.run(f"{name}{number}after", f"print(variable, file=sys.{stream})")
        assert after.text(stream) == "kept\n"
