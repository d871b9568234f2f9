"""MCP servers, sessions and code that misbehave: what they do ends nothing else."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from mcp_link import SERVER, Link, refusal, register, serve
from supervisors import Running

from sandglass_supervisor import limits

FORGE = """
import json, os, signal, struct, subprocess, time
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
def is_session(pid):
    try:
        parent = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
        return parent == os.getppid() and "session_process" in open(f"/proc/{pid}/cmdline").read()
    except OSError:
        return False
session = max(filter(is_session, pids))
def forge(*said, raw=None):
    pipe = os.open(f"/proc/{session}/fd/4", os.O_WRONLY)
    for one in said:
        body = raw if raw is not None else json.dumps(one).encode()
        os.write(pipe, struct.pack(">I", len(body)) + body)
    os.close(pipe)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        '{"op": "tools", "tools": ["x"], "notes": []}',
        '{"op": "tools", "tools": "abc", "notes": []}',
        '{"op": "tools", "tools": [{"name": 1}], "notes": []}',
        '{"op": "started"}',
        '{"op": "result", "id": [], "result": {}}',
        '{"op": []}',
        "{}",
        "[]",
    ],
)
def test_a_forged_frame_ends_that_session_alone(peer: Client, link: Link, said: str) -> None:
    serve(peer)
    before = link.call("pid")["result"]["content"][0]["text"]
    output = peer.run(f"forged {hash(said)}".replace(" ", "-"), f"{FORGE}\nforge(1, raw={said.encode()!r})")
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.outcome
    peer.until(lambda: not os.path.exists(f"/proc/{before}"), PATIENCE, "the end of the server")
    peer.until(lambda: "result" in link.call("add", a=1, b=2), PATIENCE, "another one")


def test_many_changes_are_written_seldom(peer: Client, running: Running) -> None:
    register(peer)
    tools = '{"op": "tools", "tools": [], "notes": []}'
    peer.run("changes", f"{FORGE}\nforge(*[{tools}] * 300)")
    assert peer.ask("mcp_list", timeout=5)["servers"][0]["tools"] == []
    assert running.descriptors() < 100


@pytest.mark.slow
def test_a_storm_of_changes_is_listed_a_few_times(peer: Client, link: Link, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    register(peer, "one", "storm", str(notes))
    assert link.call("grows")["result"]
    peer.until(lambda: link.call("late").get("error", {}).get("kind") == "failed", PATIENCE, "the new tool")
    assert len(Path(f"{notes}.lists").read_text().splitlines()) < 100


@pytest.mark.slow
def test_a_timeout_tells_that_the_server_prints_between_its_messages(peer: Client, link: Link) -> None:
    serve(peer, "one", "chatty")
    assert link.call("slow", seconds=0)["result"]["content"][0]["text"] == "slept"
    assert "it sent what is no message of MCP" in link.call("slow", 1, seconds=60)["error"]["message"]
    serve(peer, "two")
    assert "no message of MCP" not in link.call("slow", 1, "two", seconds=60)["error"]["message"]


@pytest.mark.slow
def test_a_session_that_is_stopped_is_given_up(peer: Client, running: Running) -> None:
    peer.run("warm", "1")  # it must be stopped while it waits for the server
    request = peer.send("mcp_register", name="one", command=sys.executable, args=[SERVER, "mute"], timeout_s=3)
    stop = f"{FORGE}\nos.kill(session, signal.SIGSTOP)"
    assert peer.run("stops", stop).outcome["status"] == "ok"  # type: ignore[index]
    with pytest.raises(Refused, match="did not answer within 3 s"):
        peer.reply_to(request)
    assert serve(peer)["name"] == "one"


@pytest.mark.slow
def test_a_server_that_ends_at_once_again_and_again_rests(peer: Client, link: Link) -> None:
    serve(peer)
    said = [link.call("dies")["error"]["message"] for _ in range(4)]
    assert "The next call starts it anew." in said[0]
    assert "times in a row" in said[-1]


@pytest.mark.parametrize("body", [b'\\"' * 300_000, b'"' * 4_000_000, b"[" * 1_000_000, b"1," * 1_000_000])
def test_a_frame_that_is_slow_to_read_holds_nobody_up(peer: Client, running: Running, body: bytes) -> None:
    link = Link(running)
    link.socket.sendall(len(body).to_bytes(4, "big") + body)
    assert peer.ask("mcp_list", timeout=5) == {"servers": []}
    link.close()


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_arguments_that_grow_or_are_deep(peer: Client, link: Link) -> None:
    words = "\u00e9" * 1_300_000  # 2.6 MB, and 7.8 as escapes
    assert link.call("pid", words=words)["result"]
    deep: Any = 1
    for _ in range(960):
        deep = [deep]
    for _ in range(30):
        deep = [deep]
        try:
            link.send(id=1, op="call", server="one", tool="pid", arguments={"deep": deep})
            answer = link.receive()
        except (RecursionError, AssertionError):
            break  # too deep for this process, or for the supervisor, which closes the connection
        assert "result" in answer or answer["error"]["kind"] in ("failed", "bad_request"), answer
    assert peer.ask("mcp_list")["servers"][0]["state"] == "running"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_a_result_of_too_many_values_is_too_large(link: Link) -> None:
    assert link.call("values", count=limits.MCP_VALUES)["error"]["kind"] == "too_large"
    assert link.call("values", count=1000)["result"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {
            "command": sys.executable,
            "args": ["-c", "import os, sys; sys.exit('no ' + os.environ['KEY'])"],
            "env": {"KEY": "s3cret"},
        },
        {"url": "http://user:s3cret@127.0.0.1:1/x?key=s3cret", "transport": "sse"},
        {"url": "http://user:s3cret@127.0.0.1:1/x?key=s3cret"},
    ],
)
def test_values_are_in_no_answer(peer: Client, running: Running, given: dict[str, Any]) -> None:
    code, words = refusal(peer, name="one", **given)
    assert code == "mcp_start_failed"
    assert "s3cret" not in words
    assert "s3cret" not in running.log.read_text()


@pytest.mark.slow
def test_a_removed_socket_comes_back_with_a_registration(peer: Client, running: Running) -> None:
    (running.runtime / "mcp").unlink()
    serve(peer)
    link = Link(running)
    assert link.call("add", a=1, b=2)["result"]
    link.close()


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_idle_connections_give_way(running: Running) -> None:
    links = [Link(running) for _ in range(limits.MCP_CONNECTIONS + 20)]
    assert links[-1].call("add", a=1, b=2)["result"]
    for link in links:
        link.close()


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\1x", b"\0\0\0\2[]", b"\0\0\0\2{}"])
def test_what_is_no_request_ends_the_connection_alone(peer: Client, running: Running, data: bytes) -> None:
    link = Link(running)
    link.socket.sendall(data)
    assert link.file.read() == b""
    assert peer.ask("mcp_list") == {"servers": []}


@pytest.mark.slow
def test_code_that_reads_no_answers_costs_a_bounded_amount(peer: Client, running: Running, link: Link) -> None:
    serve(peer)
    before, deaf = running.rss(), Link(running)

    def flood() -> None:
        try:
            for number in range(200):
                deaf.send(id=number, op="call", server="one", tool="big", arguments={"bytes": 3 * limits.MIB})
                time.sleep(0.02)
        except OSError:
            pass  # it was closed, as it must be

    flooding = threading.Thread(target=flood)
    flooding.start()
    flooding.join()
    assert link.call("add", a=1, b=2)["result"]
    assert running.rss() - before < 3 * limits.MCP_UNSENT_BYTES
    deaf.close()
