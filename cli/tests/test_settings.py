from __future__ import annotations

import stat
from pathlib import Path

import pytest

from sandglass.config import contexts, file
from sandglass.config.settings import MAX_TOKEN_CHARS, MAX_URL_CHARS, Context, Contexts, Flags, resolve
from sandglass.errors import ConfigurationError

WORK = Context("https://work.example.com/mcp", "sgk_work", "team-a")
HOME = Context("https://home.example.com/mcp", "sgk_home")
BOTH = Contexts({"work": WORK, "home": HOME}, current="work")


def test_a_flag_counts_before_the_environment_and_that_before_the_context() -> None:
    environ = {"SANDGLASS_URL": "https://env.example.com/mcp"}
    assert resolve(Flags(url="https://flag.example.com/mcp"), environ, BOTH).url == "https://flag.example.com/mcp"
    assert resolve(Flags(), environ, BOTH).url == "https://env.example.com/mcp"
    assert resolve(Flags(), {}, BOTH).url == "https://work.example.com/mcp"


def test_the_key_of_a_context_goes_to_no_other_endpoint() -> None:
    elsewhere = resolve(Flags(url="https://elsewhere.example.com/mcp"), {}, BOTH)
    assert (elsewhere.token, elsewhere.namespace) == (None, None)
    assert resolve(Flags(url="https://work.example.com/mcp/"), {}, BOTH).token == "sgk_work"


def test_a_context_named_by_a_flag_counts_before_variables() -> None:
    settings = resolve(
        Flags(context="home"), {"SANDGLASS_URL": "https://env.example.com", "SANDGLASS_TOKEN": "x"}, BOTH
    )
    assert (settings.url, settings.token) == ("https://home.example.com/mcp", "sgk_home")


def test_an_unknown_context_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="no context 'wrk'; there are: home, work"):
        resolve(Flags(context="wrk"), {}, BOTH)


def test_without_an_endpoint_the_error_says_how_to_name_one() -> None:
    with pytest.raises(
        ConfigurationError, match="set SANDGLASS_URL, give --url, or store one with 'sandglass context set"
    ):
        resolve(Flags(), {}, Contexts())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.com", "must begin with http:// or https://"),
        ("https://", "name a host"),
        ("https://example.com:x/mcp", "name a host"),
        ("https://user:secret@example.com/mcp", "must hold no password"),
        ("https://example.com/mcp?token=1", "no '\\?'"),
        ("https://example.com/\nmcp", "visible ASCII"),
        ("https://example.com/" + "m" * MAX_URL_CHARS, "visible ASCII"),
    ],
)
def test_a_url_that_is_none_is_refused(url: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as refused:
        resolve(Flags(url=url), {}, Contexts())
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "k" * (MAX_TOKEN_CHARS + 1), "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_saying_it(token: str) -> None:
    with pytest.raises(ConfigurationError, match="the key must be one line") as refused:
        resolve(Flags(url="https://example.com/mcp", token=token), {}, Contexts())
    assert token not in str(refused.value)


def test_settings_do_not_show_their_key() -> None:
    assert "sgk_work" not in repr(resolve(Flags(), {}, BOTH)) + repr(BOTH)


def test_what_is_written_is_read_again() -> None:
    assert contexts.parse(contexts.write(BOTH)) == BOTH
    assert contexts.parse("") == Contexts()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("current = ", "it is not TOML"),
        ("colour = 1", "'colour' is no setting"),
        ("current = 5", "'current' must be a text"),
        ("[contexts.a]\nurl = 5", "contexts.a.*'url' must be a text"),
        ("[contexts.a]\ntoken = 'x'", "'url' is missing"),
        ("[contexts.a]\nurl = 'https://example.com'\npassword = 'x'", "'password' is no setting"),
        ("[contexts.'a b']\nurl = 'https://example.com'", "the context must be 1 to 63 letters"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_rule(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        contexts.parse(text)


def test_the_file_is_for_its_owner_alone_and_replaced_whole() -> None:
    place = file.write(BOTH)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert file.read() == BOTH
    file.write(Contexts({"home": HOME}))
    assert file.read() == Contexts({"home": HOME})
    assert [each.name for each in place.parent.iterdir()] == ["config.toml"]


def test_a_file_that_is_too_large_or_no_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "c.toml"
    monkeypatch.setenv("SANDGLASS_CONFIG", str(place))
    place.write_bytes(b"#" * (contexts.MAX_BYTES + 1))
    with pytest.raises(ConfigurationError, match="at most 1048576 bytes"):
        file.read()
    place.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="must be UTF-8"):
        file.read()
