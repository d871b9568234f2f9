"""Installations that are interrupted, take too long, or meet another one; what is there afterwards is whole."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from client import Client, Refused
from installing import OK, begin, ended, install, make, pack, tarball, wheel
from supervisors import Running


@pytest.fixture(scope="module")
def shared(box: Running) -> Running:
    """Here the shared supervisor is one that can install."""
    return box


class Slow(http.server.BaseHTTPRequestHandler):
    """Begins to answer, and goes on when it is told to."""

    asked = threading.Event()
    go_on = threading.Event()
    content = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content[:100])
        self.wfile.flush()
        self.asked.set()
        self.go_on.wait(60)
        try:
            self.wfile.write(self.content[100:])
        except OSError:
            self.close_connection = True

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[tuple[type[Slow], str]]:
    """A host from which a package comes slowly, and the address of the package ``slow`` for Python."""

    class Handler(Slow):
        asked = threading.Event()
        go_on = threading.Event()
        content = wheel("slow", "1.0", "word = 'at last'\n")

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_address[1]}/slow-1.0-py3-none-any.whl"
    Handler.go_on.set()
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_interrupted_in_the_middle_and_again(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    begin(client, name, make(box, "before"), url)
    client.until(host.asked.is_set, 60, "the download")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    assert ended(client.finish(name))[0] == "interrupted"

    host.go_on.set()
    assert ended(install(client, name + "2", "made/before-1.0-py3-none-any.whl", url)) == OK
    seen = client.run(name + "3", "import before, slow; before.word, slow.word")
    assert seen.only("result").blob == b"('hello', 'at last')"


@pytest.mark.slow
def test_npm_interrupted_in_the_middle_and_again(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    host.content = tarball("crawl", "module.exports = 'at last';")
    wanted = (pack(box, "prior"), url.replace("slow-1.0-py3-none-any.whl", "crawl-1.0.0.tgz"))
    begin(client, name, *wanted, language="nodejs")
    client.until(host.asked.is_set, 60, "the download")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    assert ended(client.finish(name))[0] == "interrupted"

    host.go_on.set()
    assert ended(install(client, name + "2", *wanted, language="nodejs")) == OK
    seen = client.run(name + "3", "[require('prior'), require('crawl')].join()", language="nodejs")
    assert seen.only("result").blob == b"'hello,at last'"


@pytest.mark.slow
def test_interrupted_while_it_writes_and_again(box: Running, client: Client, name: str) -> None:
    many = {f"many/part{i}.txt": str(i) for i in range(10_000)}
    (box.workspace / "many_parts-1.0-py3-none-any.whl").write_bytes(
        wheel("many_parts", "1.0", "word = 'whole'\n", many)
    )
    begin(client, name, "many_parts-1.0-py3-none-any.whl")
    client.until(lambda: list(box.workspace.glob(".local/lib/python3*/site-packages/many")), 60, "the first file")
    client.ask("interrupt", execution_id=name)
    assert ended(client.finish(name))[0] == "interrupted"

    assert ended(install(client, name + "2", "many_parts-1.0-py3-none-any.whl")) == OK
    assert client.run(name + "3", "import many_parts; many_parts.word").only("result").blob == b"'whole'"
    assert len(list(box.workspace.glob(".local/lib/python3*/site-packages/many/*"))) == len(many)


@pytest.mark.slow
def test_one_at_a_time_and_other_work_beside_it(
    box: Running, client: Client, name: str, slow: tuple[type[Slow], str]
) -> None:
    host, url = slow
    begin(client, name, url)
    client.until(host.asked.is_set, 60, "the download")
    with pytest.raises(Refused, match="rejected: packages are being installed already"):
        begin(client, name + "2", make(box, "second"))
    assert client.command(name + "3", "echo", "beside").text() == "beside\n"
    host.go_on.set()
    assert ended(client.finish(name, 60)) == OK
    assert ended(install(client, name + "4", "made/second-1.0-py3-none-any.whl")) == OK


@pytest.mark.slow
def test_time_out(box: Running, client: Client, name: str, slow: tuple[type[Slow], str]) -> None:
    begin(client, name, slow[1], timeout_s=0.5)
    assert ended(client.finish(name))[0] == "timeout"
    assert ended(install(client, name + "2", make(box, "after"))) == OK
