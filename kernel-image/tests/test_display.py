"""What code displays, through a real kernel."""

import io
import json
import re
from pathlib import Path
from zipfile import ZipFile

import pytest
from client import Client, Output, Record
from PIL import Image as Pillow
from supervisors import Running

NOISE = """
import io, os
from IPython.display import Image, display
from PIL import Image as Pillow
buffer = io.BytesIO()
Pillow.frombytes('RGB', (1800, 1200), os.urandom(1800 * 1200 * 3)).save(buffer, '{form}')
display(Image(buffer.getvalue(), format='{form}'))
len(buffer.getvalue())
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_large_picture_is_scaled_and_kept(spare: Running, form: str) -> None:
    client = spare.ready()
    client.run("elsewhere", "import os; os.chdir('/')")
    output = client.run("draw", NOISE.format(form=form), timeout=60)
    record = output.only("display")
    assert record.json["mime"] in ("image/png", "image/jpeg")
    assert len(record.blob) <= 768 * 1024
    original = record.json["original"]
    full = Path(original["path"])
    assert full.parent == spare.workspace / ".sandglass" / "pictures"
    assert full.stat().st_size == original["bytes"] == int(output.only("result").blob)
    assert (original["width"], original["height"]) == (1800, 1200)


def test_small_picture_is_as_it_was_drawn(client: Client, name: str) -> None:
    code = NOISE.replace("1800", "30").replace("1200", "20").format(form="PNG") + "\nbuffer.getvalue()[-20:]"
    output = client.run(name, code, timeout=60)
    record = output.only("display")
    assert repr(record.blob[-20:]).encode() == output.only("result").blob
    assert record.json["original"] is None


def test_picture_of_pillow_is_shown(client: Client, name: str) -> None:
    output = client.run(name, "from PIL import Image\nImage.new('RGBA', (30, 20), (0, 255, 0, 60))", timeout=60)
    record = output.only("result")
    assert record.json["mime"] == "image/png"
    with Pillow.open(io.BytesIO(record.blob)) as picture:
        assert (picture.size, picture.getpixel((0, 0))) == ((30, 20), (0, 255, 0, 60))


@pytest.mark.slow
def test_large_picture_of_pillow_is_scaled_and_kept(spare: Running) -> None:
    client = spare.ready()
    code = (
        "import os\nfrom PIL import Image\ndisplay(Image.frombytes('RGB', (1800, 1200), os.urandom(1800 * 1200 * 3)))"
    )
    record = client.run("draw", code, timeout=60).only("display")
    assert len(record.blob) <= 768 * 1024
    assert record.json["original"]["width"] == 1800
    with Pillow.open(record.json["original"]["path"]) as full:
        assert full.size == (1800, 1200)


def test_a_screenshot_of_a_long_page_is_scaled(client: Client, name: str) -> None:
    code = NOISE.replace("1800", "10").replace("1200", "8001").format(form="JPEG")
    record = client.run(name, code, timeout=60).only("display")
    assert record.json["original"]["height"] == 8001
    with Pillow.open(io.BytesIO(record.blob)) as picture:
        assert max(picture.size) <= 1600


@pytest.mark.slow
def test_matplotlib_draws_without_set_up(client: Client, name: str) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])"
    output = client.run(name, code, timeout=60)
    assert output.only("display").json["mime"] == "image/png"
    assert output.only("result").blob.startswith(b"[<matplotlib.lines.Line2D")


@pytest.mark.parametrize(
    "code", ["globals().clear()", "for name in list(globals()):\n    del globals()[name]", "%reset -f"]
)
def test_results_are_shown_when_all_names_are_gone(client: Client, name: str, code: str) -> None:
    client.run(name + "1", code)
    for number in ("2", "3"):
        assert client.run(name + number, "6 * 7").only("result").blob == b"42"
    assert client.run(name + "4", "Out, _").outcome["status"] == "ok"  # type: ignore[index] # it has ended


def test_svg_is_told_of(spare: Running) -> None:
    client = spare.ready()
    said = client.run("svg", "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')")
    note = said.only("result").blob.decode()
    assert note.startswith("[an SVG picture was left out: ")
    (path,) = (spare.workspace / ".sandglass" / "pictures").glob("*.svg")
    assert str(path) in note


@pytest.mark.slow
def test_html_alone_is_its_text(client: Client, name: str) -> None:
    code = """
import pandas
table = pandas.DataFrame({'a': [1, 2]})
class Page:
    def _repr_html_(self): return table.to_html()
Page()
"""
    assert client.run(name, code, timeout=60).only("result").blob == b"a\n0 | 1\n1 | 2"


def shown(client: Client, name: str, what: str) -> Record:
    return client.run(name, f"from IPython.display import *\n{what}").only("result")


def test_markdown_latex_and_json(client: Client, name: str) -> None:
    markdown = shown(client, name + "1", "Markdown('# *head*')")
    assert (markdown.json["mime"], markdown.blob) == ("text/markdown", b"# *head*")
    assert shown(client, name + "2", "Latex('$x^2$')").blob == b"$x^2$"
    data = shown(client, name + "3", "JSON({'a': [1, None, 'é']})")
    assert data.json["mime"] == "application/json"
    assert json.loads(data.blob) == {"a": [1, None, "é"]}
    plain = shown(client, name + "4", "{'a': 1}")
    assert (plain.json["mime"], plain.blob) == ("text/plain", b"{'a': 1}")


@pytest.mark.slow
def test_large_bundles_do_not_break_the_channel(client: Client, name: str) -> None:
    code = """
from IPython.display import JSON, display
display({'application/vnd.big+json': ['x' * 9_000_000], 'text/plain': 'small'}, raw=True)
JSON(['y' * 9_000_000])
"""
    output = client.run(name, code)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("ok", "")
    assert output.only("display").blob == b"small"
    assert b"left out" in output.only("result").blob


def kept(client: Client, name: str, code: str) -> Output:
    """What code shows that leaves its kernel alive and all that is said after it whole."""
    assert client.run(name + "before", "variable = 'kept'").outcome["status"] == "ok"  # type: ignore[index]
    output = client.run(name, code, timeout_s=10)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("ok", "")
    assert client.run(name + "after", "variable").only("result").blob == b"'kept'"
    return output


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "open('big.log', 'w').write('first\\n' + 'x' * 10_000_000 + '\\nlast')\n%less big.log",
        "text = 'first' + 'x' * 9_000_000 + 'last'\n%page text",
    ],
)
def test_large_pages_are_cut(client: Client, name: str, code: str) -> None:
    page = kept(client, name, code).only("display").blob
    assert len(page) <= 1024 * 1024
    assert page.startswith((b"first", b"'first"))
    assert page.rstrip(b"'").endswith(b"last")
    left_out = re.search(rb"\[\.\.\. (\d+) bytes left out \.\.\.\]", page)
    assert left_out is not None
    assert 7_900_000 < int(left_out[1]) < 9_000_000


def test_pages_whose_packing_makes_them_large_are_told_of(client: Client, name: str) -> None:
    code = """
write = get_ipython().payload_manager.write_payload
for number in range(20):
    write({'source': 'page', 'data': {'text/plain': 'x' * 900_000}}, single=False)
"""
    assert b"was left out: too large" in kept(client, name, code).only("display").blob


def test_what_a_reply_asks_of_other_clients_is_left_out(client: Client, name: str) -> None:
    code = "get_ipython().payload_manager.write_payload({'source': 'set_next_input', 'text': 'x' * 20_000_000})"
    assert [record.kind for record in kept(client, name, code).records] == ["outcome"]


LARGE = "b'x' * 20_000_000"


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [f"data={{'a': str({LARGE})}}", f"metadata={{'a': str({LARGE})}}", f"buffers=[{LARGE}]"]
)
def test_large_messages_of_widgets_cost_nothing(client: Client, name: str, more: str) -> None:
    code = f"from comm import create_comm\nprint('before')\ncreate_comm(target_name='x', {more})\nprint('after')"
    assert kept(client, name, code).text() == "before\nafter\n"


def test_a_bundle_whose_packing_makes_it_large_is_told_of(client: Client, name: str) -> None:
    code = """
from IPython.display import display
display({kind: chr(1) * 1_000_000 for kind in ('text/plain', 'text/html', 'text/markdown')}, raw=True)
"""
    assert b"was left out: too large" in kept(client, name, code).only("display").blob


def test_progress_bar_passes_as_it_is(client: Client, name: str) -> None:
    code = "for i in range(3): print(f'\\r{i}/2', end='', flush=True)\nprint('\\x1b[31m!\\x1b[0m')"
    assert client.run(name, code).text() == "\r0/2\r1/2\r2/2\x1b[31m!\x1b[0m\n"


# Ways to run things.


@pytest.mark.parametrize(
    ("call", "asked"), [("input('name? ')", "input()"), ("__import__('getpass').getpass()", "getpass()")]
)
def test_nobody_answers_questions(client: Client, name: str, call: str, asked: str) -> None:
    error = client.run(name, call).only("error")
    assert error.json["name"] == "EOFError"
    assert error.json["message"].startswith(f"{asked}: nobody can answer a question here: pass the value in the code")


def test_standard_input_is_empty_and_the_debugger_ends(client: Client, name: str) -> None:
    assert client.run(name + "1", "import sys; sys.stdin.read()").only("result").blob == b"''"
    ended = client.run(name + "2", "import pdb; pdb.set_trace()\nprint('on')", timeout_s=20)
    assert ended.outcome is not None
    assert ended.outcome["status"] in ("error", "ok")


@pytest.mark.slow
def test_await(client: Client, name: str) -> None:
    code = "import asyncio\nasync def soon(): return 7\nx = await soon()\n"
    assert (
        client.run(name + "1", code + "await asyncio.gather(soon(), asyncio.sleep(0, x))").only("result").blob
        == b"[7, 7]"
    )
    assert client.run(name + "2", "async with asyncio.timeout(5): print('in')").text() == "in\n"
    late = client.run(name + "3", "await asyncio.sleep(30)", timeout_s=0.3).outcome
    assert late is not None
    assert (late["status"], late["kernel_restarted"]) == ("timeout", False)
    assert client.run(name + "4", "x").only("result").blob == b"7"


def test_shell_lines_and_cells(client: Client, name: str) -> None:
    line = client.run(name + "1", "!echo out; echo err >&2; exit 3\n_exit_code")
    assert "out" in line.text()
    assert "err" in line.text() + line.text("stderr")
    assert line.only("result").blob == b"3"
    assert client.run(name + "2", "found = !printf 'a\\nb\\n'\nlist(found)").only("result").blob == b"['a', 'b']"
    cell = client.run(name + "3", "%%bash\necho $((6*7))\necho err >&2\nexit 4")
    assert (cell.text(), cell.text("stderr")) == ("42\n", "err\n")
    assert cell.only("error").json["name"] == "CalledProcessError"
    assert "exit status 4" in cell.only("error").json["message"]


@pytest.mark.slow
def test_pip_from_code(spare: Running) -> None:
    with ZipFile(spare.workspace / "greet-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greet.py", "text = 'hello from a package'")
        about = "greet-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    client = spare.ready()
    install = "%pip install --no-index --no-deps --target lib ./greet-1.0-py3-none-any.whl"
    assert "Successfully installed greet-1.0" in client.run("pip", install, timeout=60).text()
    found = client.run("import", "import sys; sys.path.append('lib'); import greet; greet.text")
    assert found.only("result").blob == b"'hello from a package'"


LOOK = "import os; print(os.environ.get('GREETING'), os.environ.get('NEW'), os.environ.get('OWN'))"


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "1 / 0",
        "import sys; sys.exit(1)",
        "def",
        "import os; os.environ['NEW'] = 'mine'; del os.environ['GREETING']",
        "import os; os.environ = {}",
        "import os; os.environ.clear(); os.environ['PATH'] = '/usr/bin:/bin'",
        "import time; time.sleep(30)",
    ],
)
def test_variables_of_one_execution_are_undone(spare: Running, code: str) -> None:
    client = spare.ready()
    assert client.run("with", LOOK, envs={"GREETING": "hello", "NEW": "1"}).text() == "hello 1 None\n"
    client.run("code", code, envs={"GREETING": "hello", "NEW": "1"}, timeout_s=0.5)
    # Both what Python says and what programs are given, whatever the name os.environ stands for by now.
    look = "import os, posix; print(posix.environ.get(b'NEW'), os.popen('echo $GREETING $NEW.').read(), end='')"
    assert client.run("after", look).text() == "None hi .\n"


def test_what_code_sets_itself_stays(client: Client, name: str) -> None:
    client.run(name + "1", "import os; os.environ['OWN'] = 'kept'", envs={"NEW": "1"})
    assert client.run(name + "2", LOOK + "; del os.environ['OWN']").text() == "hi None kept\n"
