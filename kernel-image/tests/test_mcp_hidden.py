"""What is told holds no value that a server was given."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor.mcp_servers.definition import Registration, parse_registration
from sandglass_supervisor.mcp_servers.secrets import Hidden


def command(**fields: Any) -> Registration:
    return parse_registration({"name": "one", "command": "npx", **fields}, "/workspace")


def url(**fields: Any) -> Registration:
    return parse_registration({"name": "one", "url": "http://x/", **fields}, "/workspace")


def test_the_key_behind_a_scheme() -> None:
    hidden = Hidden(url(), ["Bearer s3cret-key"])
    assert hidden.hide("got Bearer s3cret-key here") == "got … here"
    assert hidden.hide("a Bearer token is expected, not 's3cret-key'") == "a Bearer token is expected, not '…'"
    literal = Hidden(url(headers={"Authorization": "Basic czNjcmV0"}))
    assert literal.hide("no Basic auth: czNjcmV0") == "no Basic auth: …"


def test_the_lines_of_a_file() -> None:
    hidden = Hidden(command(), ["-----BEGIN\r\nMIIEabc\nxyz/w==\n"])
    assert hidden.hide("bad line 2: MIIEabc; then xyz/w==") == "bad line 2: …; then …"
    assert hidden.hide("-----BEGIN MIIEabc xyz/w==") == "… … …"


@pytest.mark.parametrize("value", ['a"b\\c', "caf\u00e9 x", "tab\there", "it's"])
def test_as_it_is_quoted(value: str) -> None:
    hidden = Hidden(command(), [value])
    for text in (value, repr(value), ascii(value), f"{{{value!r}: 1}}"):
        assert value not in hidden.hide(text)
    assert hidden.hide(repr(value))[1:-1] == "…"


def test_words_of_literal_variables_stay() -> None:
    hidden = Hidden(command(env={"MODE": "fast production"}), ["s3cret production"])
    assert hidden.hide("fast production") == "…"
    assert Hidden(command(env={"MODE": "fast production"})).hide("production") == "production"


def test_what_is_shorter_than_a_word_stays() -> None:
    assert Hidden(command(), ["abc", "", "\n"]).hide("abc abcd") == "abc abcd"
    assert Hidden(command(), ["abcd"]).hide("abc abcd") == "abc …"


@given(value=st.text(min_size=4, max_size=60), before=st.text(max_size=20), after=st.text(max_size=20))
def test_no_value_is_told(value: str, before: str, after: str) -> None:
    if len(value.strip()) < 4 or "http" in value:
        return
    hidden = Hidden(command(), [value]).hide(f"{before}{value.strip()}{after}")
    assert value.strip() not in hidden or "…" in value
