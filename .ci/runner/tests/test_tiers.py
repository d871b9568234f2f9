"""The list of tiers: its form, its shards, and what of the tree it must name."""

from pathlib import Path

import pytest

from runner import tiers
from runner.tiers import Entry, Shard, TiersError

LIST = """# comment

test e2e 5 FilesE2E
all e2e 212 ExamplesE2E
by:e2e/split-dns e2e 28 SplitDnsE2E
tool script 0 e2e/up
"""


def test_a_list_is_read_without_comments() -> None:
    assert tiers.parse(LIST)[1] == Entry("all", "e2e", 212, "ExamplesE2E")
    assert len(tiers.parse(LIST)) == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("all e2e FilesE2E", "TIER KIND SECONDS NAME"),
        ("all e2e x FilesE2E", "TIER KIND SECONDS NAME"),
        ("all unit 1 FilesTest", "unit is no kind"),
        ("some e2e 1 FilesE2E", "some is no tier"),
        ("all e2e 1 A\nall e2e 2 A", ":2: e2e A stands there twice"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(line: str, reason: str) -> None:
    with pytest.raises(TiersError, match=reason):
        tiers.parse(line)


@pytest.mark.parametrize("text", ["", "0/6", "7/6", "1", "1/100", "a/b", "1/6/2"])
def test_a_wrong_shard_is_refused(text: str) -> None:
    with pytest.raises(TiersError, match="for example SHARD=2/6"):
        Shard.parse(text)


def test_shards_hold_each_entry_of_the_rest_once_and_none_of_the_others() -> None:
    entries = [Entry("all", "e2e", seconds, f"N{seconds}E2E") for seconds in range(40)]
    entries += [Entry("test", "e2e", 1, "FilesE2E"), Entry("tool", "script", 0, "e2e/up")]
    parts = [tiers.shard(entries, Shard(number, 6)) for number in range(1, 7)]
    names = [one.name for part in parts for one in part]
    assert sorted(names) == sorted(one.name for one in entries if one.tier == "all")
    loads = [sum(one.seconds for one in part) for part in parts]
    assert max(loads) - min(loads) <= 39


def test_a_test_without_a_tier_and_an_entry_without_a_test_are_named() -> None:
    found = tiers.undeclared(tiers.parse("all e2e 1 GoneE2E"), [("e2e", "NewE2E")])
    assert found[0].startswith("e2e NewE2E is in no tier")
    assert found[1] == "e2e GoneE2E stands in .ci/tiers and not in the tree"


def test_what_needs_a_tier_is_found_in_the_tree(tmp_path: Path) -> None:
    files = {
        "e2e/src/test/java/x/FilesE2E.java": "class FilesE2E {}",
        "operator/src/test/java/x/PoolIT.java": "class PoolIT {}",
        "crds/src/test/java/x/SlowTest.java": 'import x;\n@Tag("slow")\nclass SlowTest {}',
        "crds/src/test/java/x/QuickTest.java": "class QuickTest {}",
        "kernel-image/tests/test_slow.py": "@pytest.mark.alone\ndef test_a(): ...",
        "kernel-image/tests/test_words.py": "assert 'pytest.mark.alone' in text",
        "e2e/chart": "#!/usr/bin/env bash\n",
        "e2e/notes": "no program\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    assert set(tiers.find(tmp_path, files)) == {
        ("e2e", "FilesE2E"),
        ("it", "PoolIT"),
        ("junit", "SlowTest"),
        ("pytest", "kernel-image/tests/test_slow.py"),
        ("script", "e2e/chart"),
    }


def test_recorded_seconds_replace_those_of_entries_that_ran() -> None:
    text = "# e2e 1 AE2E\nall e2e 5 AE2E\nall pytest 3 cli/tests/test_a.py\nall script 7 e2e/a\n"
    assert tiers.recorded(text, {"AE2E": 8.6, "test_a": 0.2, "e2e/a": 70.0}) == (
        "# e2e 1 AE2E\nall e2e 9 AE2E\nall pytest 1 cli/tests/test_a.py\nall script 70 e2e/a\n"
    )
    assert tiers.recorded(text, {}) == text
