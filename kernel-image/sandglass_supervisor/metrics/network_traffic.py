"""Bytes that went over the pod's network devices; the parser is pure."""

from typing import NamedTuple

_DEVICES = "/proc/net/dev"
_LOOPBACK = "lo"
# A line is ``name: `` and sixteen numbers: bytes come first, eight of received and eight of sent.
_COLUMNS, _SENT = 16, 8


class Traffic(NamedTuple):
    """Bytes since the pod's network was made; None if it is not known."""

    received: int | None
    sent: int | None


def parse_devices(text: str) -> Traffic:
    """The sums over all devices but the loopback; other lines are left out."""
    received = sent = 0
    for line in text.splitlines():
        name, _, counts = line.rpartition(":")
        numbers = counts.split()
        if name.strip() in ("", _LOOPBACK) or len(numbers) < _COLUMNS:
            continue
        if all(number.isascii() and number.isdigit() for number in numbers):
            received += int(numbers[0])
            sent += int(numbers[_SENT])
    return Traffic(received, sent)


def traffic(devices: str = _DEVICES) -> Traffic:
    """What the kernel counts in this process's network namespace, which is the pod's."""
    try:
        with open(devices, encoding="ascii", errors="replace") as file:
            return parse_devices(file.read(256 * 1024))
    except OSError:
        return Traffic(None, None)
