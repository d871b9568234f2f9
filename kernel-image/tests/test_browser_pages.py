"""Pages that only a browser can show: the answer says what each is, where all of it is, and what to draw instead."""

from pathlib import Path

import pytest
from client import Client, Output
from supervisors import Running

from sandglass_supervisor.limits import HTML_CHARS
from sandglass_supervisor.shared.html_text import html_text

pytestmark = pytest.mark.usefixtures("session")
SESSION = "pages"
SCRIPT = "<script>'{}' + '" + "x" * 50 + "'</script>"


def note(output: Output) -> str:
    (record,) = (record for record in output.records if record.kind in ("result", "display"))
    assert record.json["mime"] == "text/plain"
    return record.blob.decode()


def shown(client: Client, name: str, bundle: str) -> str:
    return note(client.run(name, f"display({bundle}, raw=True)", session=SESSION))


def files(shared: Running) -> set[Path]:
    return set((shared.workspace / ".sandglass" / "pictures").glob("*.html"))


@pytest.mark.parametrize(
    ("library", "mime", "advice"),
    [
        ("plotly", "application/vnd.plotly.v1+json", "fig.write_image('chart.png')"),
        ("vega", "application/vnd.vegalite.v5+json", "chart.save('chart.png')"),
        ("bokeh", "application/vnd.bokehjs_exec.v0+json", "bokeh.io.export_png"),
    ],
)
def test_charts(client: Client, shared: Running, name: str, library: str, mime: str, advice: str) -> None:
    before = files(shared)
    page = f"<div>{SCRIPT.format(library)}</div>"
    said = shown(client, name, repr({mime: {"data": [1]}, "text/html": page}))
    (file,) = files(shared) - before
    assert file.read_text() == page
    assert said.startswith(f"[an interactive page ({library}) cannot be shown here: all its {len(page)} bytes are in")
    assert str(file) in said
    assert advice in said
    assert said.endswith("draw it with matplotlib]")


def test_a_page_of_megabytes(client: Client, shared: Running, name: str) -> None:
    before = files(shared)
    said = shown(client, name, "{'text/html': '<script>plotly' + 'x' * 4_600_000 + '</script><div id=1></div>'}")
    (file,) = files(shared) - before
    assert file.stat().st_size == 4_600_039
    assert "all its 4600039 bytes are in the file" in said
    assert len(said) < 1000


@pytest.mark.slow
def test_too_large_to_be_kept(client: Client, shared: Running, name: str) -> None:
    before = files(shared)
    said = shown(client, name, "{'text/html': '<script>' + 'x' * 70_000_000 + '</script>'}")
    assert files(shared) == before
    assert "could not be saved (at most 67108864 bytes are kept)" in said


@pytest.mark.parametrize("frame", ['srcdoc="&lt;p&gt;map"', 'src="data:text/html;base64,PHA+"', "SRC='data:x'"])
def test_a_page_within_a_page(client: Client, shared: Running, name: str, frame: str) -> None:
    before = files(shared)
    page = f"<div><iframe width=1 {frame}>Trust this</iframe></div>"
    said = shown(client, name, repr({"text/plain": "<folium.Map object at 0x7f00>", "text/html": page}))
    assert len(files(shared) - before) == 1
    assert "<folium" not in said
    assert "an interactive page cannot be shown here" in said


def test_what_it_says_in_text_stays(client: Client, name: str) -> None:
    said = shown(client, name, repr({"text/html": f"<h1>Title</h1>{SCRIPT}"}))
    assert said.startswith("Title\n[an interactive page")
    plain = shown(client, f"{name}-2", repr({"text/plain": "Chart of 3", "text/html": SCRIPT}))
    assert plain.startswith("Chart of 3\n[an interactive page")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<style>td {}</style><table><tr><td>1</td><td>2</td></tr></table>", "1 | 2"),
        ("<b>bold</b>", "bold"),
        ("<iframe src='page.html'></iframe>", "[frame: page.html]"),
    ],
)
def test_other_pages_are_text(client: Client, shared: Running, name: str, page: str, text: str) -> None:
    before = files(shared)
    assert shown(client, name, repr({"text/plain": "<x.Styler object at 0x7f00>", "text/html": page})) == text
    assert files(shared) == before


def test_a_chart_without_a_page(client: Client, name: str) -> None:
    said = shown(client, name, repr({"application/vnd.vegalite.v5+json": {}, "text/plain": "<VegaLite 5 object>"}))
    assert "only a browser can show it; as a picture: chart.save('chart.png')" in said


def test_a_picture_beside_it_is_shown(client: Client, name: str) -> None:
    code = "import base64; display({'image/png': base64.b64decode('iVBORw0KGgo='), 'text/html': '<script>'}, raw=True)"
    (record,) = (record for record in client.run(name, code, session=SESSION).records if record.kind == "display")
    assert record.json["mime"] == "image/png"


def test_a_page_without_text_has_none_however_long_it_is() -> None:
    assert html_text("<script>" + "x" * 2 * HTML_CHARS + "</script>") == ""


@pytest.mark.parametrize("wait", [True, False])
def test_what_is_taken_back(client: Client, name: str, wait: bool) -> None:
    code = f"""
from IPython.display import clear_output
for turn in range(2):
    print('round', turn)
    clear_output(wait={wait})
print('end')
"""
    records = client.run(name, code, session=SESSION).records
    clear = {"mime": "text/plain", "metadata": {}, "clear": {"wait": wait}}
    told = [(record.kind, record.blob, record.json.get("clear")) for record in records[:-1]]
    assert told == [
        ("stdout", b"round 0\n", None),
        ("display", b"", clear["clear"]),
        ("stdout", b"round 1\n", None),
        ("display", b"", clear["clear"]),
        ("stdout", b"end\n", None),
    ]
