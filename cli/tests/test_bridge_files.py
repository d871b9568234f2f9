"""Files of this machine that the bridge copies to a sandbox and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bridges import Gateway, call, initialize
from tests.endpoint import Json, result


def test_files_go_up_and_down_within_the_allowed_folders(gateway: Gateway, bridges: Any, tmp_path: Path) -> None:
    import base64

    held: dict[str, bytes] = {}

    def write(arguments: Json) -> Json:
        offset = arguments.get("offset", 0)
        held[arguments["path"]] = held.get(arguments["path"], b"")[:offset] + base64.b64decode(arguments["content"])
        return result({"size": len(held[arguments["path"]])})

    def read(arguments: Json) -> Json:
        piece = held[arguments["path"]][arguments["offset"] :][: arguments["length"]]
        return result({"content": base64.b64encode(piece).decode(), "size": len(held[arguments["path"]])})

    gateway.tools |= {"sandbox_write_file": write, "sandbox_read_file": read}
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    content = bytes(range(256)) * 6000
    (allowed / "up").write_bytes(content)
    (tmp_path / "secret").write_text("s")
    (allowed / "link").symlink_to(tmp_path / "secret")
    bridge = bridges("--contract", "ipybox", "--allowed-dir", str(allowed))
    names = [
        tool["name"] for tool in bridge.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
    ]
    assert names == ["execute_ipython_cell", "upload_file", "download_file"]
    bridge.send(call(2, "upload_file", {"relpath": "d/up", "local_path": str(allowed / "up")}, progressToken="t"))
    seen = [bridge.receive() for _ in range(3)]
    assert [message.get("params", {}).get("progress") for message in seen] == [1 << 20, 1536000, None]
    assert seen[-1]["result"]["isError"] is False
    assert held["d/up"] == content
    down = allowed / "new/folder/down"
    answer = bridge.ask(call(3, "download_file", {"relpath": "d/up", "local_path": str(down)}))
    assert answer["result"]["content"][0]["text"] == f"Downloaded d/up to {down}: 1536000 bytes."
    assert down.read_bytes() == content
    for tool, name, words in [
        ("upload_file", tmp_path / "secret", "is not within allowed directories for upload"),
        ("upload_file", allowed / "link", "is not within allowed directories for upload"),
        ("upload_file", allowed / "../secret", "is not within allowed directories for upload"),
        ("download_file", tmp_path / "x", "is not within allowed directories for download"),
        ("upload_file", allowed / "absent", "File not found"),
        ("upload_file", allowed, "Not a file"),
        ("upload_file", "a\0b", "must be a path of 1 to 4096 characters"),
    ]:
        refused = bridge.ask(call(4, tool, {"relpath": "r", "local_path": str(name)}))["result"]
        assert refused["isError"] is True
        assert words in refused["content"][0]["text"]
    assert not (tmp_path / "x").exists()
    bridge.end()


@pytest.mark.slow
def test_the_default_folders_are_open_but_for_what_is_hidden_in_them(
    gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    for path in (".ssh/id_rsa", "work/.git/config", "Library/Keychains/k", "open/up", ".config/other/x"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("secret")
    (home / "open/link").symlink_to(home / ".ssh/id_rsa")
    (home / "open/folder").symlink_to(home / ".ssh")
    gateway.tools |= {
        "sandbox_write_file": lambda _: result({"size": 6}),
        "sandbox_read_file": lambda _: result({"content": "ZXZpbA==", "size": 4}),
    }
    environ = {"HOME": str(home), "TMPDIR": str(tmp_path / "home/tmp")}
    (home / "tmp").mkdir()

    def asked(bridge: Any, tool: str, place: str) -> Any:
        answer = bridge.ask(call(1, tool, {"relpath": "r", "local_path": place}))["result"]
        return answer["content"][0]["text"] if answer["isError"] else None

    bridge = bridges("--contract", "ipybox", **environ)
    for place in ("~/.ssh/id_rsa", "~/open/link", "~/work/.git/config", "~/Library/Keychains/k"):
        words = asked(bridge, "upload_file", place)
        assert words == (
            f"Error: Path '{place}' is not within allowed directories for upload: it is hidden, and --allowed-dir names"
            " no folder that holds it"
        )
    for place in ("~/.bashrc", "~/open/../.ssh/authorized_keys", "~/open/folder/rc", "~/.config/new", "~/tmp/.X/x"):
        assert "is not within allowed directories for download: it is hidden" in asked(bridge, "download_file", place)
    assert asked(bridge, "upload_file", "~/open/up") is None
    assert asked(bridge, "download_file", "~/open/down") is None
    assert asked(bridge, "download_file", "~/tmp/down") is None
    errors = bridge.end()[2]
    assert errors.count("upload_file and download_file reach your home folder") == 1
    assert not (home / ".bashrc").exists()
    bridge = bridges("--contract", "ipybox", "--allowed-dir", "~", "--allowed-dir", "~/.config/other", **environ)
    assert "it is hidden" in asked(bridge, "upload_file", "~/.ssh/id_rsa")
    assert asked(bridge, "upload_file", "~/.config/other/x") is None
    bridge.end()
    bridge = bridges("--contract", "ipybox", "--allowed-dir", "~/work", **environ)
    assert asked(bridge, "upload_file", "~/work/.git/config") is None
    assert "is not within allowed directories for upload" in asked(bridge, "upload_file", "~/open/up")
    bridge.end()


@pytest.mark.slow
def test_a_path_that_is_none_of_this_machine_is_answered(gateway: Gateway, bridges: Any, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    bridge = bridges("--contract", "ipybox", "--allowed-dir", str(tmp_path))
    for place in ("~nobody-of-this-name/x", str(tmp_path / "circle"), str(tmp_path / "\ud800")):
        for tool in ("upload_file", "download_file"):
            gateway.tools["sandbox_read_file"] = lambda _: result({"content": "", "size": 0})
            answer = bridge.ask(call(1, tool, {"relpath": "r", "local_path": place}))
            assert (answer["id"], answer["result"]["isError"] or place.endswith("circle")) == (1, True)
            words = answer["result"]["content"][0]["text"]
            assert not place.startswith("~") or words == f"Error: Not a path of this machine: {place}"
    assert bridge.ask(initialize())["id"] == 0
    bridge.end()
