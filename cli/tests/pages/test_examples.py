"""The examples for frameworks, which `make clients` runs with the frameworks themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "cli/examples").glob("*.py"))
PINS = ROOT / "e2e/clients/frameworks/python"


def test_there_is_one_for_each_of_four_frameworks() -> None:
    assert [place.stem for place in EXAMPLES] == [
        "with_langchain",
        "with_openai_agents",
        "with_pydantic_ai",
        "with_smolagents",
    ]


@pytest.mark.parametrize("place", EXAMPLES, ids=lambda place: place.stem)
def test_each_fits_on_a_page_is_named_and_has_pinned_versions(place: Path) -> None:
    text = place.read_text()
    compile(text, str(place), "exec")
    assert len(text.splitlines()) <= 60
    assert f"(examples/{place.name})" in (ROOT / "cli/README.md").read_text()
    framework = place.stem.removeprefix("with_").replace("_", "-")
    pins = (PINS / framework / "requirements.txt").read_text()
    assert f"\n{framework}" in pins
    # What the library needs has to be there where it is used.
    assert "from sandglass " not in text or {"httpx==", "platformdirs=="} <= {
        pin[: pin.find("==") + 2] for pin in pins.split()
    }
