"""Messages of the Node kernel as they come by its pipe: whole, cut anywhere, or none at all."""

import pytest

from sandglass_supervisor.kernels.node_process import Frames


def frame(kind: str, run: str, content: bytes) -> bytes:
    body = b"%s\n%s\n%s" % (kind.encode(), run.encode(), content)
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
def test_frames_come_whole_however_they_are_cut(size: int) -> None:
    data = frame("stream", "7", b'{"text":"a\nb"}') + frame("ready", "0", b"") + frame("x", "12", b"y" * 500)
    frames = Frames()
    found = [message for at in range(0, len(data), size) for message in frames.feed(data[at : at + size])]
    assert found == [("stream", 7, b'{"text":"a\nb"}'), ("ready", 0, b""), ("x", 12, b"y" * 500)]
    assert not frames.broken


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        (8 * 1024 * 1024 + 1).to_bytes(4, "big"),
        frame("stream", "-1", b""),
        frame("stream", "1" * 16, b""),
        frame("é", "1", b""),
        b"\0\0\0\0",
    ],
)
def test_what_is_no_frame_breaks_the_pipe(data: bytes) -> None:
    frames = Frames()
    assert frames.feed(frame("ready", "0", b"") + data + frame("ready", "0", b"")) == [("ready", 0, b"")]
    assert frames.broken
