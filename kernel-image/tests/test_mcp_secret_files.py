"""Values that come from Secrets: which files are read, at the bounds, and what is said of those that are not."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mounted_secrets import publish

from sandglass_supervisor import limits, linux
from sandglass_supervisor.mcp_servers import secret_files
from sandglass_supervisor.mcp_servers.definition import Command, SecretEntry, Url
from sandglass_supervisor.mcp_servers.secret_files import SecretUnusable

NAME = "sandglass-mcp-one"
ENTRY = SecretEntry(NAME, "token")


def variables(folder: Path, **entries: SecretEntry) -> dict[str, str]:
    return secret_files.read(Command(("x",), {}, "/", entries or {"TOKEN": ENTRY}), str(folder))


def headers(folder: Path, **entries: SecretEntry) -> dict[str, str]:
    return secret_files.read(Url("http://x", {}, "sse", entries or {"X-Key": ENTRY}), str(folder))


def why(read: Any, folder: Path, **entries: SecretEntry) -> str:
    with pytest.raises(SecretUnusable) as problem:
        read(folder, **entries)
    return str(problem.value)


def test_a_value_is_that_of_the_moment(tmp_path: Path) -> None:
    publish(tmp_path, NAME, token="caf\u00e9\n".encode(), other=b"")
    assert variables(tmp_path) == {"TOKEN": "caf\u00e9\n"}
    publish(tmp_path, NAME, token=b"next", other=b"")
    assert variables(tmp_path, A=ENTRY, B=SecretEntry(NAME, "other")) == {"A": "next", "B": ""}
    assert secret_files.read(Command(("x",), {"A": "b"}, "/", {}), "/nonexistent") == {}


def test_all_secrets_in_one_volume(tmp_path: Path) -> None:
    """As a projected volume has them: the folder of a Secret is a link itself."""
    (tmp_path / "..1" / NAME).mkdir(parents=True)
    (tmp_path / "..1" / NAME / "token").write_text("abc")
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / NAME).symlink_to(f"..data/{NAME}")
    assert variables(tmp_path) == {"TOKEN": "abc"}


@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
def test_any_text_is_a_variable(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    publish(folder, NAME, token=value.encode())
    assert variables(folder) == {"TOKEN": value}


@given(value=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_a_header_or_is_refused(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    publish(folder, NAME, token=value.encode())
    bare = value.removesuffix("\r\n") if value.endswith("\r\n") else value.removesuffix("\n")
    if bare.isascii() and bare.isprintable() and bare == bare.strip():
        assert headers(folder) == {"X-Key": bare}
    else:
        words = f"header 'X-Key': key 'token' of Secret '{NAME}' must be one line of printable ASCII"
        assert why(headers, folder).startswith(words)


@pytest.mark.parametrize(("stored", "sent"), [(b"a b\n", "a b"), (b"a\r\n", "a"), (b"a", "a"), (b"", ""), (b"\n", "")])
def test_the_last_line_break_of_a_header_is_left_out(tmp_path: Path, stored: bytes, sent: str) -> None:
    publish(tmp_path, NAME, token=stored)
    assert headers(tmp_path) == {"X-Key": sent}


@pytest.mark.parametrize("stored", [b"a\n\n", b" a", b"a ", b"a\rb", b"a\0b", b"\r\n\r\n", "caf\u00e9".encode()])
def test_what_is_no_header(tmp_path: Path, stored: bytes) -> None:
    publish(tmp_path, NAME, token=stored)
    assert "must be one line of printable ASCII, without blanks at its ends; store such a value" in why(
        headers, tmp_path
    )


@pytest.mark.parametrize(
    ("read", "most"), [(variables, limits.ENV_VALUE_BYTES), (headers, limits.MCP_HEADER_BYTES)], ids=["env", "headers"]
)
def test_the_length_at_the_bound_and_one_byte_above(tmp_path: Path, read: Any, most: int) -> None:
    publish(tmp_path, NAME, token=b"s" * most)
    assert [len(value) for value in read(tmp_path).values()] == [most]
    publish(tmp_path, NAME, token=b"s" * (most + 1))
    assert f"has more than {most} bytes; store a shorter value" in why(read, tmp_path)
    publish(tmp_path, NAME, token=b"s" * 10 * most)
    assert "sss" not in why(read, tmp_path)


def test_a_header_of_full_length_may_have_its_line_break(tmp_path: Path) -> None:
    publish(tmp_path, NAME, token=b"s" * limits.MCP_HEADER_BYTES + b"\r\n")
    assert len(headers(tmp_path)["X-Key"]) == limits.MCP_HEADER_BYTES


def test_all_together_at_the_bound_and_one_byte_above(tmp_path: Path) -> None:
    half = limits.MCP_SECRETS_BYTES // 2
    two = {"A": ENTRY, "B": SecretEntry(NAME, "other")}
    publish(tmp_path, NAME, token=b"a" * half, other=b"b" * half)
    assert len(variables(tmp_path, **two)) == 2
    publish(tmp_path, NAME, token=b"a" * half, other=b"b" * (half + 1))
    words = f"variable 'B': key 'other' of Secret '{NAME}' makes more than 32768 bytes together with the others"
    assert why(variables, tmp_path, **two).startswith(words)


@pytest.mark.parametrize("stored", [b"\xff", b"ab\xc3", b"\xed\xa0\x80"])
@pytest.mark.parametrize("read", [variables, headers])
def test_what_is_not_utf_8(tmp_path: Path, read: Any, stored: bytes) -> None:
    publish(tmp_path, NAME, token=stored)
    assert f"key 'token' of Secret '{NAME}' is not UTF-8; store a text" in why(read, tmp_path)


def test_a_nul_is_in_no_variable(tmp_path: Path) -> None:
    publish(tmp_path, NAME, token=b"hid\0den")
    said = why(variables, tmp_path)
    assert said.startswith(f"variable 'TOKEN': key 'token' of Secret '{NAME}' has a NUL character")
    assert "hid" not in said


def test_what_is_absent(tmp_path: Path) -> None:
    absent = f"variable 'TOKEN': key 'token' of Secret '{NAME}' is not in the server's pod. Create the Secret"
    assert why(variables, tmp_path / "nonexistent").startswith(absent)
    assert why(variables, tmp_path).startswith(absent)
    publish(tmp_path, NAME, other=b"x")
    assert why(variables, tmp_path).startswith(absent)
    (tmp_path / NAME / "token").symlink_to("..data/token")
    assert why(variables, tmp_path).startswith(absent)


def test_a_folder_that_is_replaced_during_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, NAME, token=b"abc")
    looks: list[str] = []

    def once_absent(folder: int, path: str, flags: int, resolve: int) -> int:
        looks.append(path)
        if len(looks) == 2:
            raise OSError(errno.ENOENT, "gone")
        return openat2(folder, path, flags, resolve)

    openat2 = linux.openat2
    monkeypatch.setattr(linux, "openat2", once_absent)
    assert variables(tmp_path) == {"TOKEN": "abc"}
    assert looks == [NAME, "token"] * 2


@pytest.mark.parametrize("target", ["/etc/hostname", "../sandglass-mcp-two/token", "/proc/self/fd/0", "../../x"])
def test_what_leads_out_is_not_read(tmp_path: Path, target: str) -> None:
    """The control: a link of the kubelet's own form."""
    folder = tmp_path / "mounted"
    publish(folder, NAME, token=b"abc")
    publish(folder, "sandglass-mcp-two", token=b"s3cret")
    (tmp_path / "x").write_text("s3cret")
    assert variables(folder) == {"TOKEN": "abc"}
    (folder / NAME / "token").unlink()
    (folder / NAME / "token").symlink_to(target)
    assert "leads out of the folder of that Secret" in why(variables, folder)


def test_a_secret_whose_folder_leads_out(tmp_path: Path) -> None:
    publish(tmp_path / "elsewhere", NAME, token=b"s3cret")
    folder = tmp_path / "mounted"
    folder.mkdir()
    (folder / NAME).symlink_to(tmp_path / "elsewhere" / NAME)
    assert "leads out" in why(variables, folder)


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / NAME / "token").mkdir(parents=True)
    assert "is no file; only the kubelet's own files are read" in why(variables, tmp_path)
    os.mkfifo(tmp_path / NAME / "pipe")
    assert "is no file" in why(variables, tmp_path, A=SecretEntry(NAME, "pipe"))


def test_what_cannot_be_opened_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path, NAME, token=b"abc")
    before = len(os.listdir("/proc/self/fd"))

    def refuse(descriptor: int, size: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "read", refuse)
    assert "cannot be read (Input/output error); delete the server's pod" in why(variables, tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before
