"""Servers whose keys come from Secrets: real ones, over stdio and over HTTP."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import test_mcp_http as web
from client import Client
from mcp_link import SERVER, Link, refusal, register, serve
from mounted_secrets import publish
from supervisors import Running

NAME = "sandglass-mcp-one"
KEY = "s3cret-k3y-9f2c71d04b"
TOKEN = {"TOKEN": {"secret": NAME, "key": "token"}}


@pytest.fixture
def secrets(running: Running) -> Path:
    folder = running.folder / "secrets"
    publish(folder, NAME, token=KEY.encode(), header=f"Bearer {KEY}\n".encode())
    return folder


def text(link: Link, tool: str, **arguments: Any) -> str:
    return str(link.call(tool, **arguments)["result"]["content"][0]["text"])


@pytest.mark.slow
def test_a_variable_comes_from_a_secret_and_a_new_value_with_the_next_start(
    peer: Client, link: Link, secrets: Path
) -> None:
    serve(peer, env={"A": "b"}, secret_env=TOKEN)
    assert [text(link, "env", name=name) for name in ("TOKEN", "A")] == [KEY, "b"]
    publish(secrets, NAME, token=b"another")
    assert text(link, "env", name="TOKEN") == KEY
    assert link.call("dies")["error"]["kind"] == "not_running"
    assert text(link, "env", name="TOKEN") == "another"


@pytest.mark.slow
def test_the_same_revision_is_not_started_again_and_a_new_one_reads_anew(
    peer: Client, link: Link, secrets: Path
) -> None:
    serve(peer, secret_env=TOKEN, revision="1")
    pid = text(link, "pid")
    publish(secrets, NAME, token=b"another")
    serve(peer, secret_env=TOKEN, revision="1")
    assert (text(link, "pid"), text(link, "env", name="TOKEN")) == (pid, KEY)
    serve(peer, secret_env=TOKEN, revision="2")
    assert text(link, "env", name="TOKEN") == "another"


def test_the_key_is_nowhere_but_in_the_server(peer: Client, link: Link, running: Running, secrets: Path) -> None:
    """The control: the server's own process has it."""
    assert secrets.is_dir()
    told = register(peer, secret_env=TOKEN)
    server = int(text(link, "pid"))
    assert KEY.encode() in Path(f"/proc/{server}/environ").read_bytes()
    processes = [path for path in Path("/proc").glob("[0-9]*") if path.name != str(server)]
    seen = []
    for path in [process / name for process in processes for name in ("environ", "cmdline")]:
        try:
            seen.append(KEY.encode() in path.read_bytes())
        except OSError:
            continue
    assert (len(seen) > 4, any(seen)) == (True, False)
    assert KEY.encode() not in Path(f"/proc/{server}/cmdline").read_bytes()
    listed = peer.ask("mcp_list")
    written = [path.read_text() for path in Path(told["folder"]).rglob("*.py")]
    assert written
    assert KEY not in json.dumps([told, listed, written]) + running.log.read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("secrets")
def test_last_words_that_quote_the_key(peer: Client, link: Link, running: Running) -> None:
    quits = "import os, sys; sys.exit('refused: ' + os.environ['TOKEN'] + ' and ' + os.environ['HEADER'])"
    both = {**TOKEN, "HEADER": {"secret": NAME, "key": "header"}}
    code, words = refusal(peer, name="one", command=sys.executable, args=["-c", quits], secret_env=both)
    assert (code, "refused: … and …" in words) == ("mcp_start_failed", True)
    serve(peer, secret_env={"LAST_WORDS": both["HEADER"]})
    ended = link.call("dies")["error"]["message"]
    assert "no more of this …" in ended
    assert KEY not in words + ended + running.log.read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("secrets")
@pytest.mark.parametrize("count", [30, 500])
def test_last_words_are_not_cut_within_the_key(peer: Client, count: int) -> None:
    """However many characters are kept, none of them is a part of the key."""
    quits = f"import os, sys; sys.exit('x ' + ' '.join([os.environ['TOKEN']] * {count}))"
    _, words = refusal(peer, name="one", command=sys.executable, args=["-c", quits], secret_env=TOKEN)
    assert "… …" in words
    assert all(part not in words for part in (KEY[-5:], KEY[:5]))


@pytest.mark.slow
def test_a_secret_that_is_not_there_fails_the_start_until_it_is(peer: Client, link: Link, running: Running) -> None:
    entry = {"TOKEN": {"secret": "sandglass-mcp-late", "key": "token"}}
    code, words = refusal(peer, name="one", command=sys.executable, args=[SERVER], secret_env=entry)
    assert code == "mcp_start_failed"
    assert "did not start: variable 'TOKEN': key 'token' of Secret 'sandglass-mcp-late' is not in the" in words
    assert peer.ask("mcp_list") == {"servers": []}
    publish(running.folder / "secrets", "sandglass-mcp-late", token=b"now")
    serve(peer, secret_env=entry)
    assert text(link, "env", name="TOKEN") == "now"
    publish(running.folder / "secrets", "sandglass-mcp-late", token=b"\xff")
    link.call("dies")
    gone = link.call("env", name="TOKEN")["error"]
    assert (gone["kind"], "key 'token' of Secret 'sandglass-mcp-late' is not UTF-8" in gone["message"]) == (
        "not_running",
        True,
    )


class Guarded(web.Handler):
    """Answers those who send the key of the moment."""

    wanted = ""

    def do_POST(self) -> None:  # noqa: N802
        if self.headers["Authorization"] == Guarded.wanted:
            super().do_POST()
        else:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(401, f"got {self.headers['Authorization']}")


@contextmanager
def guarded(wanted: str) -> Iterator[str]:
    Guarded.wanted = wanted
    handler: type[BaseHTTPRequestHandler] = Guarded
    with web.served(handler=handler) as port:
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.slow
def test_a_header_comes_from_a_secret_and_a_new_one_after_a_refusal(
    peer: Client, link: Link, running: Running, secrets: Path
) -> None:
    given: dict[str, Any] = {
        "headers": {"X-Key": "abc"},
        "secret_headers": {"Authorization": {"secret": NAME, "key": "header"}},
    }
    with guarded(f"Bearer {KEY}") as url:
        told = peer.ask("mcp_register", timeout=60, name="one", url=url, api=False, **given)
        assert told["server_info"]["name"] == "web"
        assert text(link, "key") == "abc"
        Guarded.wanted = "Bearer rotated-key"
        refused = link.call("key")["error"]
        assert refused["kind"] == "not_running"
        assert "it answered 401, so it does not take the key in a header that comes from a Secret" in refused["message"]
        publish(secrets, NAME, header=b"Bearer rotated-key\r\n")
        assert text(link, "key") == "abc"
        Guarded.wanted = "Bearer third-key"
        _, words = refusal(peer, name="two", url=url, **given)
        assert "it answered 401" in words
        said = json.dumps([told, refused, words, peer.ask("mcp_list")], ensure_ascii=False) + running.log.read_text()
        assert not any(key in said for key in (KEY, "rotated-key", "Bearer"))


@pytest.mark.slow
def test_a_refusal_of_a_literal_header_ends_nothing(peer: Client, link: Link) -> None:
    with guarded("abc") as url:
        peer.ask("mcp_register", timeout=60, name="one", url=url, headers={"Authorization": "abc"}, api=False)
        Guarded.wanted = "other"
        assert link.call("key")["error"]["kind"] == "failed"
        assert peer.ask("mcp_list")["servers"][0]["state"] == "running"


def test_a_header_that_is_none(peer: Client, secrets: Path) -> None:
    publish(secrets, NAME, header=f"Bearer {KEY}\nX-More: 1".encode())
    given: dict[str, Any] = {"secret_headers": {"Authorization": {"secret": NAME, "key": "header"}}}
    code, words = refusal(peer, name="one", url="http://127.0.0.1:1/", **given)
    assert code == "mcp_start_failed"
    assert f"header 'Authorization': key 'header' of Secret '{NAME}' must be one line of printable ASCII" in words
    assert KEY not in words
