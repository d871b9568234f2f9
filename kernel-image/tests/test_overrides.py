"""The list of what is overridden in other packages says what the code does, and the installed packages have it."""

import foreign_members
import pytest

from sandglass_supervisor.inside import overrides
from sandglass_supervisor.inside.overrides import THREAD, Override


def test_the_list_has_what_the_code_does() -> None:
    assert foreign_members.unlisted() == []


def test_the_installed_packages_have_what_the_list_says() -> None:
    assert foreign_members.missing() == []


def test_each_member_is_listed_once_and_with_its_reason() -> None:
    names = [(entry.owner, entry.member) for entry in overrides.OVERRIDES]
    assert len(names) == len(set(names))
    assert all(entry.why for entry in overrides.OVERRIDES)


def test_a_member_that_is_not_listed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    less = tuple(entry for entry in overrides.OVERRIDES if entry.member not in ("_events", "_getframe"))
    monkeypatch.setattr(overrides, "OVERRIDES", less)
    monkeypatch.setitem(overrides.USED, THREAD, "socket thread")
    assert foreign_members.unlisted() == [
        f"{THREAD}._events is in the code and not in OVERRIDES",
        f"{THREAD}.io_loop is in the code and not in USED",
        f"{THREAD}.schedule is in the code and not in USED",
        "_events, of a package that is not ours, is not in OVERRIDES",
        "_getframe, of a package that is not ours, is not in OVERRIDES",
    ]


def test_a_member_that_is_gone_or_has_changed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    more = (Override(THREAD, "_gone", "(self)", ""), Override(THREAD, "start", "(self, soon)", ""))
    monkeypatch.setattr(overrides, "OVERRIDES", (*more, Override("ipykernel.nothing:Here", "there", "value", "")))
    monkeypatch.setattr(overrides, "USED", {THREAD: "socket absent"})
    assert foreign_members.missing() == [
        f"{THREAD} has no _gone any more",
        f"{THREAD}.start is (self) and was (self, soon)",
        "ipykernel.nothing:Here has no there any more",
        f"{THREAD} has no absent any more",
    ]
    assert f"{THREAD}._gone is in the list and not in the code" in foreign_members.unlisted()
