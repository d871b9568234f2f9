"""Links to pictures, which an agent opens on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge.image_links import ImageLinks
from tests.bridges import Gateway, call
from tests.endpoint import Endpoint, Json, result
from tests.test_workspace import Times

LINK = "- [Generated image](/workspace/images/a-1.png)"


def answer(text: str) -> bytes:
    parts = [{"type": "text", "text": text}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": parts, "isError": False}}).encode()


def shown(links: ImageLinks, text: str) -> str:
    read = json.loads(links.local(answer(text)))
    assert read["result"]["content"][1]["data"] == "AA=="
    return str(read["result"]["content"][0]["text"])


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "images").mkdir(parents=True)
    (folder / "images/a-1.png").touch()
    (folder / "images/a (2).png").touch()
    return folder


def test_a_link_leads_to_the_file_here(work: Path) -> None:
    links = ImageLinks([(work, "")])
    second = "- [Generated image](/workspace/images/a (2).png)"
    text = f"out\n\nGenerated images:\n\n{LINK}\n{second}\n--- sandglass ---\nnote of {LINK}"
    assert shown(links, text) == (
        f"out\n\nGenerated images:\n\n- [Generated image]({work}/images/a-1.png)\n"
        f"- [Generated image]({work}/images/a (2).png)\n--- sandglass ---\nnote of {LINK}"
    )


def test_the_folder_that_is_bound_deepest_has_the_file(work: Path, tmp_path: Path) -> None:
    bound = tmp_path / "bound"
    bound.mkdir()
    (bound / "a-1.png").touch()
    text = f"Generated images:\n\n{LINK}"
    assert f"({bound}/a-1.png)" in shown(ImageLinks([(work, ""), (bound, "images")]), text)
    assert shown(ImageLinks([(bound, "image")]), text) == text
    assert shown(ImageLinks([(bound, "other")]), text) == text


@pytest.mark.parametrize(
    "path",
    ["images/absent.png", "../outside", "images/../../outside", "/outside", "images", "link", "a\0b", "x" * 5000],
)
def test_what_is_not_a_file_of_the_folder_keeps_its_link(work: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").touch()
    (work / "link").symlink_to(tmp_path / "outside")
    text = f"Generated images:\n\n- [Generated image](/workspace/{path})"
    assert shown(ImageLinks([(work, "")]), text) == text


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"Generated images:"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"content":"Generated images:"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":7},"Generated images:"]}}',
        b"Generated images: [",
        b"{}",
        answer(LINK),
        answer(f"Generated images: {LINK}"),
    ],
)
def test_other_messages_stay_as_they_are(work: Path, line: bytes) -> None:
    assert ImageLinks([(work, "")]).local(line) == line


@pytest.mark.parametrize(("contract", "tool"), [("ipybox", "execute_ipython_cell"), ("ipython", "execute")])
def test_the_bridge_links_to_what_it_synced(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path, contract: str, tool: str
) -> None:
    there = Times(endpoint, gateway)

    def execute(_: Json) -> Json:
        there.put("images/a-1.png", b"png")
        return result(text=f"Generated images:\n\n{LINK}")

    gateway.tools[tool] = execute
    bridge = bridges("--contract", contract, "--workspace", str(tmp_path))
    text = bridge.ask(call(1, tool, {}))["result"]["content"][0]["text"]
    place = f"{tmp_path}/images/a-1.png"
    assert Path(place).read_bytes() == b"png"
    assert (f"({place})" in text) is (contract == "ipybox")
    bridge.end()
