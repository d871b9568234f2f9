"""A picture as pixels: made smaller, and with few colours. Pure."""

from __future__ import annotations

import heapq
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

CLEAR = 255
"""The index of a pixel that is not drawn."""

MOST_COLOURS = 255
_HALF = 128
_COARSE_BITS = 3
_MOST_CUT = 4096
Colour = tuple[int, int, int]
_Weighted = tuple[Colour, int]


@dataclass(frozen=True)
class Picture:
    """Rows of pixels, each of the four bytes red, green, blue and opacity."""

    width: int
    height: int
    pixels: bytes


def shrunk(picture: Picture, most_width: int, most_height: int) -> Picture:
    """The picture within these bounds, by a whole divisor: each pixel is the mean of a square of pixels."""
    divisor = max(-(-picture.width // most_width), -(-picture.height // most_height))
    if divisor <= 1:
        return picture
    width, height = max(picture.width // divisor, 1), max(picture.height // divisor, 1)
    across, down = min(divisor, picture.width), min(divisor, picture.height)
    row_bytes = picture.width * 4
    result = bytearray(width * height * 4)
    for number in range(height):
        first = number * down * row_bytes
        rows = [picture.pixels[first + each * row_bytes : first + (each + 1) * row_bytes] for each in range(down)]
        for lane in range(4):
            parts = [row[lane + 4 * each :: 4 * across][:width] for row in rows for each in range(across)]
            means = bytes(sum(square) // len(square) for square in zip(*parts, strict=True))
            result[number * width * 4 + lane : (number + 1) * width * 4 : 4] = means
    return Picture(width, height, bytes(result))


def reduced(pixels: bytes, most: int) -> tuple[bytes, list[Colour]]:
    """The number of a colour for each pixel, `CLEAR` for those that are rather clear, and the colours.

    Up to `most` colours stay as they are. Of more, median cut chooses.
    """
    words = memoryview(pixels).cast("I")
    counts = Counter(words)
    parts = {word: word.to_bytes(4, sys.byteorder) for word in counts}
    weights: Counter[Colour] = Counter()
    for word, (red, green, blue, opacity) in parts.items():
        if opacity >= _HALF:
            weights[red, green, blue] += counts[word]
    boxes = _boxes(weights, max(1, min(most, MOST_COLOURS)))
    numbers = {colour: number for number, box in enumerate(boxes) for colour, _ in box}
    table = {
        word: CLEAR if opacity < _HALF else numbers[red, green, blue]
        for word, (red, green, blue, opacity) in parts.items()
    }
    return bytes(map(table.__getitem__, words)), [_mean(box) for box in boxes]


def _boxes(weights: Counter[Colour], most: int) -> list[list[_Weighted]]:
    """Colours in groups, each of which is drawn as one."""
    if len(weights) <= most:
        return [[each] for each in weights.items()]
    # Of very many colours, groups of near ones are cut by their means.
    lost_bits = _COARSE_BITS if len(weights) > _MOST_CUT else 0
    near: defaultdict[tuple[int, ...], list[_Weighted]] = defaultdict(list)
    for colour, weight in weights.items():
        near[tuple(part >> lost_bits for part in colour)].append((colour, weight))
    means = [(_mean(group), sum(weight for _, weight in group), group) for group in near.values()]
    return [[each for _, _, group in box for each in group] for box in _cut(means, most)]


_Group = tuple[Colour, int, list[_Weighted]]


def _cut(groups: list[_Group], most: int) -> list[list[_Group]]:
    """Cuts the box with the longest side at its median, again and again."""
    serial = itertools.count()
    boxes = [(*_longest(groups), next(serial), groups)]
    while len(boxes) < most and boxes[0][0] < 0:
        _, lane, _, box = heapq.heappop(boxes)
        box.sort(key=lambda group: group[0][lane])
        sums = list(itertools.accumulate(weight for _, weight, _ in box))
        middle = next(number for number, total in enumerate(sums, 1) if 2 * total >= sums[-1])
        at = min(middle, len(box) - 1)
        for part in (box[:at], box[at:]):
            heapq.heappush(boxes, (*_longest(part), next(serial), part))
    return [box for *_, box in boxes]


def _longest(box: list[_Group]) -> tuple[int, int]:
    """The longest side, below zero so that a heap has it first, and its lane."""
    lanes = list(zip(*(colour for colour, _, _ in box), strict=True))
    return min((min(lane) - max(lane), number) for number, lane in enumerate(lanes))


def _mean(box: Sequence[_Weighted]) -> Colour:
    total = sum(weight for _, weight in box)
    red, green, blue = (sum(colour[lane] * weight for colour, weight in box) for lane in range(3))
    return round(red / total), round(green / total), round(blue / total)
