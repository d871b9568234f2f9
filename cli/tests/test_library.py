"""`Sandbox` and `AsyncSandbox`: the same work, written twice for callers."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

import sandglass
from sandglass import AsyncSandbox, CodeStream, Entry, ExecutionError, Sandbox, ToolError
from tests.endpoint import Endpoint, Json, Reply, in_turn, ran, result, streamed

STARTED: Json = result(
    {"sandbox": "box", "namespace": "default", "status": "running", "ports": [], "allowed_domains": [], "message": "",
     "warning": None}
)  # fmt: skip
STARTING = result({**STARTED["structuredContent"], "status": "starting", "message": "Sandbox box was started, but …"})
STOPPED = result({"sandbox": "box", "namespace": "default", "status": "deleted"}, "Sandbox box stopped successfully")


def absent(sandbox: str) -> Json:
    """The answer that there is no sandbox of that name."""
    return result(text=f"Error: Sandbox '{sandbox}' not found in namespace 'default'.", is_error=True)


BEGUN = ran("running", sandbox_created=True, next_offset=0)
ERROR = {"name": "ValueError", "message": "no", "traceback": "Traceback\nValueError: no"}


class Both:
    """Runs the same statements with either class."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def do(self, *path_and_arguments: Any, name: str | None = "box", **named: Any) -> Any:
        *path, method, arguments = path_and_arguments

        async def main() -> Any:
            async with AsyncSandbox(name) as box:
                target: Any = box
                for part in path:
                    target = getattr(target, part)
                return await getattr(target, method)(*arguments, **named)

        if self.is_async:
            return asyncio.run(main())
        with Sandbox(name) as box:
            target: Any = box
            for part in path:
                target = getattr(target, part)
            return getattr(target, method)(*arguments, **named)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def both(request: pytest.FixtureRequest, endpoint: Endpoint) -> Both:
    endpoint.tools["sandbox_start"] = lambda _: STARTED
    endpoint.tools["sandbox_stop"] = lambda _: STOPPED
    endpoint.tools["sandbox_interrupt"] = lambda _: result({"status": "interrupted"})
    return Both(request.param)


def test_code_gives_text_results_and_pictures(endpoint: Endpoint, both: Both) -> None:
    picture: Json = {"type": "image", "data": base64.b64encode(b"png").decode(), "mimeType": "image/png"}
    facts = [{"mime_type": "image/png", "bytes": 3, "path": "images/1.png", "full_bytes": 9}]
    done = ran("ok", stdout="hi", result="2", images=facts)
    done["content"].append(picture)
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = lambda _: done
    execution = both.do("run_code", ["1 + 1"], timeout=5)
    assert (execution.text, execution.results, execution.status) == ("hi\n2", ("2",), "ok")
    assert [(image.mime_type, image.data, image.path) for image in execution.images] == [
        ("image/png", b"png", "images/1.png")
    ]
    assert execution.is_new_sandbox
    assert execution.check() is execution
    assert endpoint.calls("sandbox_run_code") == [
        {"sandbox": "box", "code": "1 + 1", "language": "python", "timeout": 5, "background": True}
    ]


def test_a_run_is_read_on_page_by_page_until_it_ends(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = in_turn(
        ran("running", stdout="a", next_offset=1),
        ran("error", stdout="b", stderr="!", truncated=True, next_offset=3),
        ran("error", stdout="c", error=ERROR, next_offset=4),
    )
    execution = both.do("run_code", ["x"])
    assert (execution.stdout, execution.stderr, execution.status) == ("abc", "!", "error")
    assert execution.text == "abc\n!\nTraceback\nValueError: no"
    assert [each["offset"] for each in endpoint.calls("sandbox_get_execution")] == [0, 1, 3]
    with pytest.raises(ExecutionError, match="ValueError: no"):
        execution.check()


def test_output_comes_once_although_the_connection_breaks(endpoint: Endpoint, both: Both) -> None:
    heard: list[str] = []
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = in_turn(
        streamed([(1, "Still running after 15 s.\n"), (2, "a\n"), (4, "b\n")], None),
        streamed([(2, "a\n"), (4, "b\n"), (6, "c\n")], ran("running", next_offset=6)),
        streamed([(1, "Still running after 15 s.\n"), (7, "d")], ran("ok", next_offset=7)),
    )
    both.do("run_code", ["x"], on_output=heard.append)
    assert heard == ["a\n", "b\n", "c\n", "d"]


def test_a_command_is_a_program_with_its_arguments_or_a_line(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_command"] = lambda _: ran("error", exit_code=3, message="It ended with exit code 3.")
    execution = both.do("commands", "run", [["ls", "-l"]])
    assert (execution.exit_code, execution.is_ok) == (3, False)
    both.do("commands", "run", ["ls | head"])
    both.do("commands", "run", [["a b"]])
    sent = [(call["command"], call.get("args")) for call in endpoint.calls("sandbox_run_command")]
    assert sent == [("ls", ["-l"]), ("ls | head", None), ("env", ["--", "a b"])]


def test_files_of_any_size_go_in_pieces(endpoint: Endpoint, both: Both) -> None:
    content = bytes(range(256)) * 8192 + b"end"
    held = bytearray()

    def write(arguments: Json) -> Json:
        data = base64.b64decode(arguments["content"])
        held[arguments.get("offset", 0) :] = data
        return result({"sandbox": "box", "namespace": "d", "path": "p", "bytes": len(data), "size": len(held)})

    def read(arguments: Json) -> Json | Reply:
        piece = bytes(held[arguments["offset"] : arguments["offset"] + arguments["length"]])
        return result({"content": base64.b64encode(piece).decode(), "size": len(held), "bytes": len(piece)})

    endpoint.tools |= {"sandbox_write_file": write, "sandbox_read_file": read}
    both.do("files", "write", ["p", content])
    assert bytes(held) == content
    assert [call.get("offset") for call in endpoint.calls("sandbox_write_file")] == [None, 1 << 20, 2 << 20]
    assert both.do("files", "read", ["p"]) == content
    both.do("files", "write", ["p", ""])
    assert both.do("files", "read_text", ["p"]) == ""


def test_folders_are_listed_made_and_deleted(endpoint: Endpoint, both: Both) -> None:
    listed = [{"path": "a", "type": "file", "size": 3, "modified": "2026-01-01T00:00:00Z"}]
    endpoint.tools["sandbox_list_files"] = in_turn(
        result({"entries": listed, "truncated": False}), result({"entries": listed, "truncated": True})
    )
    assert both.do("files", "list", []) == (Entry("a", "file", 3, "2026-01-01T00:00:00Z"),)
    with pytest.raises(ToolError, match="more than 10000 entries"):
        both.do("files", "list", ["big"])
    endpoint.tools["sandbox_manage_files"] = in_turn(
        result({"status": "created"}),
        result({"status": "unfinished"}),
        result({"status": "deleted"}),
        result({"status": "found", "file": listed[0] | {"mode": "644", "target": None}}),
    )
    assert both.do("files", "make_folder", ["f"]) is True
    both.do("files", "delete", ["f"], recursive=True)
    assert both.do("files", "stat", ["a"]).size == 3


def test_a_sandbox_without_a_name_is_new_and_deleted_at_the_end(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: ran("ok")
    both.do("run_code", ["1"], name=None)
    both.do("run_code", ["1"], name=None)
    first, second = (call["sandbox"] for call in endpoint.calls("sandbox_start"))
    assert first != second
    assert endpoint.calls("sandbox_stop") == [{"sandbox": name, "delete": True} for name in (first, second)]


def test_a_sandbox_with_a_name_stays(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: ran("ok")
    both.do("run_code", ["1"])
    assert endpoint.calls("sandbox_stop") == []


def test_a_start_that_takes_long_is_asked_again(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_start"] = in_turn(STARTING, STARTING, STARTED)
    endpoint.tools["sandbox_run_code"] = lambda _: ran("ok")
    both.do("run_code", ["1"])
    endpoint.tools["sandbox_start"] = lambda _: STARTING
    with pytest.raises(ToolError, match="was started, but"):
        both.do("run_code", ["1"], name=None)
    assert len(endpoint.calls("sandbox_stop")) == 1


def test_an_error_in_the_callback_interrupts_the_run(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(1, "a")], ran("ok"))

    def fails(_: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        both.do("run_code", ["x"], on_output=fails)
    assert endpoint.calls("sandbox_interrupt") == [
        {"sandbox": "box", "execution_id": BEGUN["structuredContent"]["execution_id"]}
    ]


def test_an_iterator_gives_the_output_and_then_the_result(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(1, "a"), (2, "b")], ran("ok", result="7"))

    async def main() -> tuple[list[str], str | None]:
        async with AsyncSandbox("box") as box, box.stream_code("x") as stream:
            return [piece async for piece in stream], (await stream.result()).result

    if both.is_async:
        assert asyncio.run(main()) == (["a", "b"], "7")
        return
    with Sandbox("box") as box:
        stream = box.stream_code("x")
        assert isinstance(stream, CodeStream)
        assert list(stream) == ["a", "b"]
        assert stream.result.result == "7"


def test_leaving_an_iterator_early_interrupts_the_run(endpoint: Endpoint, both: Both) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(1, "a"), (2, "b")], ran("running", next_offset=0))

    def interrupt(_: Json) -> Json:
        endpoint.tools["sandbox_get_execution"] = lambda _: ran("interrupted")
        return result({"status": "interrupted"})

    endpoint.tools["sandbox_interrupt"] = interrupt

    async def main() -> None:
        async with AsyncSandbox("box") as box, box.stream_code("x") as stream:
            async for _ in stream:
                break

    if both.is_async:
        asyncio.run(main())
    else:
        with Sandbox("box") as box:
            pieces = iter(box.stream_code("x"))
            next(pieces)
            pieces.close()  # type: ignore[attr-defined]
    assert len(endpoint.calls("sandbox_interrupt")) == 1


def test_fields_of_the_wrong_kind_are_named(endpoint: Endpoint, both: Both) -> None:
    wrong = ran("ok")
    wrong["structuredContent"]["stdout"] = 5
    endpoint.tools["sandbox_run_code"] = lambda _: wrong
    with pytest.raises(sandglass.EndpointError, match="has not a text in 'stdout'"):
        both.do("run_code", ["1"])


def test_every_public_name_is_there() -> None:
    for name in sandglass.__all__:
        assert getattr(sandglass, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Sandbocks'"):
        _ = sandglass.Sandbocks


@pytest.mark.endpoint
def test_real_endpoint_runs_code(real_endpoint: str) -> None:
    with Sandbox() as box:
        heard: list[str] = []
        execution = box.run_code("print('hello'); 6 * 7", on_output=heard.append)
        assert (execution.stdout, execution.result, "".join(heard)) == ("hello\n", "42", "hello\n")
        box.files.write("empty", b"")
        box.files.write("large", b"x" * 3_000_000)
        assert (box.files.read("empty"), len(box.files.read("large"))) == (b"", 3_000_000)
        assert box.commands.run(["sh", "-c", "exit 3"]).exit_code == 3
