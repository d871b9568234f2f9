"""Attaching, credit and back-pressure over the link."""

import json
import time
from pathlib import Path

import pytest
from client import PATIENCE, WINDOW, Client
from supervisors import Running

FLOOD = "for i in range(1000): print('%09d' % i + 'x' * 99_990)"  # 100 MB
FLOOD_BYTES = 100_000_000


def test_attach_in_the_middle(client: Client, shared: Running, name: str, home: Path) -> None:
    go = home / "go"
    wait = f"while i == 4 and not os.path.exists({str(go)!r}): time.sleep(0.005)"
    client.start(name, f"import os, time\nfor i in range(10):\n  print(i, flush=True)\n  {wait}")
    client.until(lambda: len(client.output(name).text()) == 10, PATIENCE, "some output")
    other = shared.client()
    answer = other.ask("attach", execution_id=name, offset=3)
    assert answer["state"] == "running"
    assert answer["outcome"] is None
    assert answer["journal"]["from"] == 0
    go.touch()
    output = other.finish(name)
    assert output.records[0].offset == 3
    assert output.text() == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"[3:]
    assert client.finish(name).text() == "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def test_the_answer_comes_before_the_output(client: Client, name: str) -> None:
    client.run(name, "print('x')")
    for verb, more in (("attach", {}), ("command", {"command": "true", "attach": True})):
        client.socket.send_multipart(
            [b"V", b"first", json.dumps({"verb": verb, "execution_id": name, **more}).encode()]
        )
        letters = [client.socket.recv_multipart()[0] for _ in range(3)]
        assert letters == [b"R", b"O", b"O"]


def test_attach_after_the_end(client: Client, shared: Running, name: str) -> None:
    done = client.run(name, "print('é€')\n1/0")
    other = shared.client()
    answer = other.ask("attach", execution_id=name, offset=0)
    assert answer["state"] == "done"
    assert answer["outcome"] == done.outcome
    assert answer["journal"] == {"from": 0, "end": done.records[-1].offset}
    assert other.finish(name).records == done.records
    third = shared.client()
    third.ask("attach", execution_id=name, offset=4)  # inside the euro sign
    assert third.finish(name).text() == "€\n"


def test_an_execution_that_nobody_attached_to(client: Client, name: str) -> None:
    client.start(name, "print('unseen')", attach=False)
    client.run(name + "2", "1")
    assert client.output(name).records == []
    client.ask("attach", execution_id=name)
    assert client.finish(name).text() == "unseen\n"


def test_detach(client: Client, name: str) -> None:
    client.start(name, "import time\nfor i in range(5): print(i, flush=True); time.sleep(0.1)")
    assert client.ask("detach", execution_id=name) == {}
    seen = len(client.output(name).records)
    client.run(name + "2", "1")
    assert len(client.output(name).records) == seen


@pytest.mark.slow
def test_output_survives_the_reader(spare: Running) -> None:
    first = spare.ready()
    first.start("long", "import time\nfor i in range(20): print(i, flush=True); time.sleep(0.05)")
    first.until(lambda: len(first.output("long").text()) > 4, PATIENCE, "some output")
    first.close()
    second = spare.client()
    second.ask("attach", execution_id="long", offset=0)
    assert second.finish("long").text() == "".join(f"{i}\n" for i in range(20))


@pytest.mark.alone
def test_window_is_kept_and_resumes(spare: Running) -> None:
    client = spare.ready()
    client.acknowledge = False
    client.start("flood", FLOOD, timeout_s=60)
    records = client.output("flood").records
    client.until(lambda: sum(len(record.blob) for record in records) > WINDOW - 2 * 65536, PATIENCE, "a full window")
    while client.receive(0.2):
        pass
    received = sum(len(record.blob) for record in records)
    assert received + 64 * len(records) <= WINDOW
    assert client.output("flood").outcome is None
    assert spare.rss() < 64 * 1024 * 1024
    took = []
    for turn in range(3):
        began = time.monotonic()
        assert client.ask("list")["kernels"][0]["state"] == "busy"
        assert client.command(f"meanwhile{turn}", "echo", "served").text() == "served\n"
        took.append(time.monotonic() - began)
    assert min(took) < 0.5
    client.acknowledge = True
    client.credit("flood", received)
    output = client.finish("flood", 60)
    assert len(output.blob("stdout")) == FLOOD_BYTES
    lines = output.text().splitlines()
    assert [int(line[:9]) for line in lines] == list(range(1000))
    assert not [record for record in output.records if record.kind == "gap"]
    assert spare.rss("VmHWM") < 96 * 1024 * 1024


@pytest.mark.slow
def test_journal_tells_what_it_dropped(spare: Running) -> None:
    client = spare.ready()
    client.start("flood", FLOOD, attach=False, on_full="truncate", timeout_s=60)
    client.run("behind", "1", timeout=60)
    answer = client.ask("attach", execution_id="flood", offset=0)
    assert answer["journal"] == {"from": 0, "end": FLOOD_BYTES}
    output = client.finish("flood")
    gap = output.only("gap")
    assert output.outcome is not None
    assert output.outcome["truncated"] is True
    assert gap.json["to"] - gap.json["from"] == gap.json["bytes"] > 80_000_000
    assert output.records[0].blob.startswith(b"000000000x")
    assert b"000000999x" in output.blob("stdout")[-150_000:]
    assert 7_000_000 < len(output.blob("stdout")) <= 8 * 1024 * 1024
    middle = spare.client()
    middle.ask("attach", execution_id="flood", offset=50_000_000)
    assert middle.finish("flood").records[0].kind == "gap"
    assert spare.rss("VmHWM") < 96 * 1024 * 1024


@pytest.mark.slow
def test_command_waits_for_its_reader(spare: Running) -> None:
    client = spare.ready()
    client.acknowledge = False
    client.ask("command", execution_id="yes", command="head", args=["-c", "20000000", "/dev/zero"], attach=True)
    records = client.output("yes").records
    client.until(lambda: records, PATIENCE, "output")
    while client.receive(0.2):
        pass
    received = sum(len(record.blob) for record in records)
    assert received <= WINDOW
    client.acknowledge = True
    client.credit("yes", received)
    assert len(client.finish("yes").blob("stdout")) == 20_000_000


@pytest.mark.slow
def test_time_out_meets_a_stalled_reader(spare: Running) -> None:
    client = spare.ready()
    client.acknowledge = False
    client.start("flood", "while True: print('x' * 1000)", timeout_s=1)
    client.until(lambda: client.ask("list")["executions"][-1]["state"] == "done", PATIENCE, "the end of the run")
    client.acknowledge = True
    while client.receive(0.2):
        pass
    client.credit("flood", client.output("flood").records[-1].offset)
    output = client.finish("flood")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["kernel_restarted"]) == ("timeout", False)


@pytest.mark.slow
def test_oldest_executions_are_forgotten(spare: Running) -> None:
    client = spare.ready()
    for i in range(70):
        client.run(f"e{i}", "1")
    known = [execution["execution_id"] for execution in client.ask("list")["executions"]]
    assert known == [f"e{i}" for i in range(6, 70)]
    assert client.start("e0", "raise SystemExit")["state"] == "done"


@pytest.mark.slow
def test_all_journals_together_keep_their_bound(spare: Running) -> None:
    client = spare.ready()
    for i in range(8):
        client.start(f"e{i}", "print('x' * 8_000_000)", attach=False)
        client.run(f"after{i}", "1")
    client.ask("attach", execution_id="e0", offset=0)
    output = client.finish("e0")
    assert [record.kind for record in output.records] == ["gap", "outcome"]
    client.ask("attach", execution_id="e7", offset=0)
    assert len(client.finish("e7").blob("stdout")) == 8_000_001
    assert spare.rss() < 96 * 1024 * 1024
