from __future__ import annotations

import pytest

from sandglass.errors import EndpointError
from sandglass.wire.events import EventReader

STREAM = b': keep-alive\n\nevent: message\ndata: {"a":1}\n\ndata:one\r\ndata: two\r\n\r\nid: 7\n\ndata: cut'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_their_bytes_come(size: int) -> None:
    reader = EventReader()
    found = [event for at in range(0, len(STREAM), size) for event in reader.feed(STREAM[at : at + size])]
    assert found == [b'{"a":1}', b"one\ntwo"]


@pytest.mark.parametrize("piece", [b"data: 78", b"data: 78\n"])
def test_an_event_that_is_too_long_is_refused_before_its_end(piece: bytes) -> None:
    reader = EventReader(most=100)
    with pytest.raises(EndpointError, match="more than 100 bytes"):
        _ = [event for _ in range(60) for event in reader.feed(piece)]
