"""Tables as kubectl prints them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sandglass.terminal.text import line

_GAP = 3


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines with aligned columns."""
    cells = [list(head), *([line(cell) or "-" for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) + _GAP for column in range(len(head))]
    lines = ("".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "\n".join(lines)


def bytes_of(size: float | None) -> str:
    """A size for people: 512 B, 1.5 MiB."""
    if size is None:
        return "-"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError


def seconds_of(seconds: float | None) -> str:
    """A duration for people: 45s, 12m, 3h5m."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes_left}m"
    return f"{minutes}m" if minutes else f"{rest}s"
