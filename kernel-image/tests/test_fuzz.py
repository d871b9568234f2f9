"""A short run of the fuzzer with the same messages each time; ``make soak`` runs it long, with fresh ones."""

from pathlib import Path

import decoders
import fuzz
import pytest

from sandglass_supervisor.link import wire

TARGETS = {target.name: target for target in decoders.targets()}


@pytest.mark.parametrize("name", TARGETS)
def test_bad_messages_are_refused_in_the_declared_way(name: str, tmp_path: Path) -> None:
    fuzz.attack(TARGETS[name], 20_261_121, 400, tmp_path)


FOUND = {
    "a time-out that no float holds": ("link", [b"V", b"r7", b'{"verb":"execute","timeout_s":' + b"9" * 400 + b"}"]),
    "a number that is infinite": ("link", [b"V", b"r7", b'{"verb":"list","x":1e999}']),
    "a counter of 2000 digits": ("run", [b"execute_reply", b'{"status":"ok","execution_count":' + b"9" * 2000 + b"}"]),
    "a counter that is none": ("run", [b"execute_reply", b'{"status":"ok","execution_count":true}']),
    "more after a broken message": ("node", [b"\xff" * 4, b"x" * 100]),
    "a broken message in the midst": ("node", [b"\0\0\0\x05a\n1\nb\0\0\0\x01xrest", b"x" * 100]),
}


@pytest.mark.parametrize(("name", "frames"), FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(name: str, frames: list[bytes], tmp_path: Path) -> None:
    fuzz.examine(TARGETS[name], frames, lambda: tmp_path)


def test_infinite_numbers_are_no_json() -> None:
    assert wire.parse_object(b'{"x":1e999}') is None
    assert wire.parse_object(b'{"x":-1e999}') is None
    assert wire.parse_object(b'{"x":1e308}') == {"x": 1e308}


def test_good_messages_are_stood(tmp_path: Path) -> None:
    for target in TARGETS.values():
        for frames in target.corpus:
            fuzz.examine(target, frames, lambda: tmp_path)


def test_a_finding_can_be_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(frames: list[bytes]) -> None:
        assert len(frames[0]) > 2

    bad = decoders.Target("bad", [[b"abc"]], refuse)
    with pytest.raises(fuzz.Finding, match="python-bad-1-"):
        fuzz.attack(bad, 1, 1000, tmp_path)
    monkeypatch.setattr(decoders, "targets", lambda: [bad])
    (noted,) = tmp_path.iterdir()
    with pytest.raises(fuzz.Finding, match=noted.name):
        fuzz.replay(noted)
