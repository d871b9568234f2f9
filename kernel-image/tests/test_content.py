"""What the supervisor makes of displayed things: text of HTML, JSON, notes, pictures as they are."""

import json
import time
from binascii import b2a_base64
from typing import Any

import pytest
from headers import HEADERS, header
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor.kernels import content
from sandglass_supervisor.kernels.content import Entry
from sandglass_supervisor.limits import HTML_CHARS, JSON_RESULT_BYTES, PICTURE_BYTES, PICTURE_SIDE
from sandglass_supervisor.shared.html_text import html_text

FIRST_BYTES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x0a\x00\x00\x00WEBP",
}


def encoded(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def shown(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> Entry:
    entry = content.shown("result", {"data": data, "metadata": metadata or {}})
    assert entry is not None
    return entry


def text_of(data: dict[str, Any]) -> str:
    return shown(data).blob.decode()


# Names under which something can be displayed anew.


def named(name: object, *, update: bool = False) -> object:
    entry = content.shown("display", {"data": {"text/plain": "a"}, "transient": name}, update=update)
    assert entry is not None
    return json.loads(entry.json).get("display")


def test_names_of_displays() -> None:
    assert named({"display_id": "bar"}) == {"id": "bar", "update": False}
    assert named({"display_id": "x" * 256}, update=True) == {"id": "x" * 256, "update": True}
    for name in (None, 1, "", "x" * 257):
        assert named({"display_id": name}, update=True) is None
    for transient in ("text", ["display_id"], None):
        assert named(transient, update=True) is None


# HTML.


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<b>bold</b> &lt;1 &amp; &eacute;", "bold <1 & é"),
        ("<h1>Head</h1><p>one\n two<br/>three</p>", "Head\none two\nthree"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<table><tr><th></th><th>a</th></tr><tr><th>0</th><td>1</td></tr></table>", "a\n0 | 1"),
        ("<pre>def f():\n    return 1</pre> after  it", "def f():\n    return 1\nafter it"),
        ("<style>p { x }</style><SCRIPT>a < b</SCRIPT >seen<!-- <p> not -->!", "seen!"),
        ("<img src='data:image/png;base64,AAAA' alt='a cat'><img src=x.png><audio src='data:a'>", None),
        ("1 < 2 and a<b", "1 < 2 and a"),
        ("<style>never closed", ""),
        ("İ<script>x</script>after", "İafter"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
        ("", ""),
    ],
)
def test_html_text(page: str, text: str | None) -> None:
    assert html_text(page) == (text if text is not None else "[picture: a cat][picture: x.png][audio]")


def test_html_at_its_bound() -> None:
    assert html_text("x" * HTML_CHARS) == "x" * HTML_CHARS
    over = html_text("x" * (HTML_CHARS + 7))
    assert over == "x" * HTML_CHARS + "\n[... 7 characters of HTML left out ...]"


HOSTILE = [
    "<!--",
    "<a ",
    "<a href=",
    "<a href='",
    "</a",
    "<![",
    "<?",
    "&",
    "&#",
    "<style>",
    "<script></",
    "<img alt='x",
    "<",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_html_takes_no_time(piece: str) -> None:
    began = time.process_time()
    html_text(piece * (HTML_CHARS // len(piece)))
    # html.parser takes minutes for some of these; the supervisor serves nobody meanwhile.
    assert time.process_time() - began < 2


@given(st.text(st.sampled_from("<>/!-&;ascript td='\"\n"), max_size=60))
def test_any_html(page: str) -> None:
    html_text(page).encode()


# Which of a bundle is shown.


def test_html_stands_in_for_a_bare_name_only() -> None:
    assert text_of({"text/plain": "<pandas.io.formats.style.Styler at 0x7f5b>", "text/html": "<b>x</b>"}) == "x"
    assert text_of({"text/plain": "   a\n0  1", "text/html": "<table>"}) == "   a\n0  1"
    assert text_of({"text/plain": "<Thing>"}) == "<Thing>"


def test_markdown_and_latex_are_as_they_are() -> None:
    bare = "<IPython.core.display.Markdown object>"
    assert shown({"text/plain": bare, "text/markdown": "# *a*"})[1:] == (
        b'{"mime":"text/markdown","metadata":{}}',
        b"# *a*",
    )
    assert shown({"text/latex": "$x^2$"}).blob == b"$x^2$"


def test_terminal_codes_are_in_no_text() -> None:
    assert text_of({"text/plain": "\x1b[1mbold\x1b[0m \x9b31mred"}) == "bold red"
    assert text_of({"text/html": "a\x1b[2Kb"}) == "ab"


def test_json_is_data() -> None:
    entry = shown({"text/plain": "<IPython.core.display.JSON object>", "application/json": {"é": [1, None]}})
    assert json.loads(entry.json)["mime"] == "application/json"
    assert json.loads(entry.blob) == {"é": [1, None]}
    assert "é" in entry.blob.decode()


def test_json_at_its_bound() -> None:
    exact = "x" * (JSON_RESULT_BYTES - 2)
    assert json.loads(shown({"application/json": exact}).json)["mime"] == "application/json"
    assert json.loads(shown({"application/json": exact + "x"}).json)["mime"] == "text/plain"


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_what_is_no_json_is_text(value: object) -> None:
    assert json.loads(shown({"application/json": value}).json)["mime"] == "text/plain"


def test_unpaired_surrogates_leave_json_sound() -> None:
    assert json.loads(shown({"application/json": "a\ud800"}).blob) == "a?"


def test_what_cannot_be_shown_is_named() -> None:
    assert text_of({"application/vnd.x+json": {}, "text/html": "<script>x</script>"}) == (
        "[what cannot be shown was left out (application/vnd.x+json, text/html): show it as text or PNG to see it]"
    )
    svg = text_of({"text/plain": "<x.Graph at 0x1f>", "image/svg+xml": "<svg/>"})
    assert svg == "<x.Graph at 0x1f> [what cannot be shown was left out (image/svg+xml): draw it as PNG to see it]"


@pytest.mark.parametrize("mime", FIRST_BYTES)
def test_pictures_pass_as_bytes(mime: str) -> None:
    picture = FIRST_BYTES[mime] + bytes(40)
    entry = shown({"text/plain": "x", mime: encoded(picture)}, {mime: {"width": 3, "height": True}})
    assert entry.blob == picture
    assert json.loads(entry.json) == {"mime": mime, "metadata": {"width": 3}, "original": None}


def test_picture_at_the_supervisors_bound() -> None:
    exact = FIRST_BYTES["image/png"].ljust(PICTURE_BYTES, b"\0")
    assert shown({"image/png": encoded(exact)}).blob == exact
    assert b"was left out" in shown({"image/png": encoded(exact + b"\0")}).blob


@pytest.mark.parametrize("kind", HEADERS)
def test_sides_at_their_bound(kind: str) -> None:
    for size in ((PICTURE_SIDE, 2), (2, PICTURE_SIDE)):
        mime, picture = header(kind, *size)
        assert shown({mime: encoded(picture)}).blob == picture
    for width, height in ((PICTURE_SIDE + 1, 2), (2, PICTURE_SIDE + 1)):
        mime, picture = header(kind, width, height)
        assert text_of({"text/plain": "x", mime: encoded(picture)}) == (
            f"[a picture of {width} x {height} pixels was left out: at most 8000 on a side can be shown; "
            "scale it down, or show it in parts]"
        )


@pytest.mark.parametrize("kind", HEADERS)
def test_pictures_with_cut_headers_pass(kind: str) -> None:
    mime, picture = header(kind, PICTURE_SIDE + 1, 2)
    assert shown({mime: encoded(picture[:-1])}).blob == picture[:-1]


@pytest.mark.parametrize(
    ("said", "original"),
    [
        ({"path": "/workspace/p.png", "bytes": 9, "width": 2, "height": 1}, None),
        ({"path": "/p\n[ok] forged", "bytes": -1, "width": 2**53, "height": "1"}, {"path": None}),
        ({"path": "/" + "p" * 4096, "bytes": 1.5}, {"path": None}),
        ([1], "null"),
    ],
)
def test_what_is_said_of_the_original_is_checked(said: Any, original: Any) -> None:
    entry = shown({"image/png": encoded(FIRST_BYTES["image/png"])}, {"sandglass": said})
    expected = said if original is None else None if original == "null" else original
    assert json.loads(entry.json)["original"] == expected
