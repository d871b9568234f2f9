"""What stands above the frames of a stack in the Node kernel: the words that Node itself has there."""

import re

import pytest
from client import Client


@pytest.mark.parametrize(
    ("code", "headline"),
    [
        ("throw new TypeError('a')", "TypeError: a"),
        ("Buffer.from(5)", "TypeError [ERR_INVALID_ARG_TYPE]: The first argument must be of type string"),
        ("require('assert').strictEqual(1, 2)", "AssertionError [ERR_ASSERTION]: Expected values"),
        ("class E extends Error { toString() { return 'mine' } }\nthrow new E('a')", "E [Error]: a"),
    ],
)
def test_of_errors(client: Client, name: str, code: str, headline: str) -> None:
    told = client.run(name, code, language="nodejs").only("error").blob.decode()
    assert re.search(rf"^{re.escape(headline)}", told, re.MULTILINE), told


def test_of_what_is_no_error(client: Client, name: str) -> None:
    code = "console.trace('here', { a: 1 })\nconst o = {}; Error.captureStackTrace(o); o.stack"
    output = client.run(name, code, language="nodejs")
    assert re.fullmatch(r"Trace: here \{ a: 1 \}\n    at cell-\d+:1:9\n", output.text("stderr"))
    assert re.fullmatch(r"'Error\\n    at cell-\d+:2:21'", output.only("result").blob.decode())
