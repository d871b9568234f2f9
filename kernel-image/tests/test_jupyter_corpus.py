"""Our reader of kernels' messages and Jupyter's own on messages that were recorded from a real kernel."""

import pytest
import recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_peer import Peer
from recorded import JupyterFrames

from sandglass_supervisor.kernels import content, jupyter

KEY, CORPUS = recorded.jupyter_corpus()
PEER = Peer(KEY)
SIGNED = 6  # delimiter, signature and four parts: identities and buffers are not covered
KINDS = {
    *("execute_request", "execute_reply", "execute_input", "execute_result", "stream", "display_data", "error"),
    *("update_display_data", "clear_output", "status", "input_request", "input_reply", "comm_open", "comm_msg"),
    *("comm_close", "kernel_info_reply", "complete_reply", "inspect_reply", "is_complete_reply", "comm_info_reply"),
    *("history_reply", "interrupt_reply", "shutdown_reply"),
}


def delimiter(message: JupyterFrames) -> int:
    return message.frames.index(b"<IDS|MSG>")


def test_every_kind_of_message_is_recorded() -> None:
    assert {found.kind for m in CORPUS if (found := jupyter.parse(KEY, m.frames)) is not None} >= KINDS


each = pytest.mark.parametrize("message", CORPUS, ids=lambda message: message.name)


@each
def test_both_accept_what_a_kernel_said(message: JupyterFrames) -> None:
    assert PEER.check(message.frames)
    assert PEER.read(message.frames) is not None


@each
def test_both_refuse_another_key(message: JupyterFrames) -> None:
    for key in (b"a-key-for-tests-onlz", KEY[:-1], KEY + b"x", b"x"):
        assert jupyter.parse(key, message.frames) is None
        assert Peer(key).read(message.frames) is None


@each
def test_both_refuse_another_byte(message: JupyterFrames) -> None:
    start = delimiter(message)
    for index in range(start, start + SIGNED):
        frame = message.frames[index]
        for place in {*range(min(len(frame), 40)), *range(0, len(frame), 97), max(0, len(frame) - 1)} & {
            *range(len(frame))
        }:
            for bit in (1, 32):  # 32: the same letter in the other case
                changed = list(message.frames)
                changed[index] = frame[:place] + bytes([frame[place] ^ bit]) + frame[place + 1 :]
                assert not PEER.check(changed), f"byte {place} of frame {index - start}"
                assert PEER.read(changed) is None


@each
def test_both_refuse_frames_missing_added_or_in_another_order(message: JupyterFrames) -> None:
    frames, start = message.frames, delimiter(message)
    signed = range(start, start + SIGNED)
    changes = [[*frames[:index], *frames[index + 1 :]] for index in signed]
    changes += [[*frames[:index], b'{"x": 1}', *frames[index:]] for index in signed[1:]]
    changes += [frames[:index] for index in signed]
    for first in signed:
        for second in range(first + 1, start + SIGNED):
            swapped = list(frames)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            changes.append(swapped)
    for changed in changes:
        if changed != frames:  # two frames that are equal may change places
            assert not PEER.check(changed)
            assert PEER.read(changed) is None


@each
def test_both_overlook_what_is_not_signed(message: JupyterFrames) -> None:
    """Identities and buffers may be changed on the way: Jupyter does not sign them, and we read neither."""
    start = delimiter(message)
    without = message.frames[start : start + SIGNED]
    for changed in (without, [b"other", *without], [*message.frames, b"one more buffer"]):
        assert PEER.check(changed)
        assert jupyter.parse(KEY, changed) == jupyter.parse(KEY, message.frames)


@each
def test_where_a_part_ends_is_not_signed(message: JupyterFrames) -> None:
    """Jupyter signs the parts as one text. Cut at other places it is no JSON, which both refuse in the headers.

    Metadata and content are read later: content that is no JSON says nothing.
    """
    start = delimiter(message) + 2
    header, parent, metadata, said = message.frames[start : start + 4]
    head = message.frames[:start]
    assert not PEER.check([*head, header + parent, metadata, said, b""])
    assert not PEER.check([*head, header[:-1], header[-1:] + parent, metadata, said])
    moved = [*head, header, parent, metadata + said, b""]
    assert PEER.check(moved)
    assert PEER.read(moved) is None
    found = jupyter.parse(KEY, moved)
    assert found is not None
    assert content.parse(found.content) == {}


words = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=25)
@given(words, words, st.dictionaries(words, values), st.dictionaries(words, values))
def test_jupyter_accepts_what_we_ask(msg_id: str, kind: str, said: dict[str, object], about: dict[str, object]) -> None:
    message = PEER.read(jupyter.request(KEY, msg_id, kind, said, about))
    assert message is not None
    assert (message["content"], message["metadata"]) == (said, about)
    assert (message["msg_id"], message["msg_type"]) == (msg_id, kind)
