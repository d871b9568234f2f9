"""Mutated messages for every decoder of the supervisor: ``python fuzz.py --seconds 60``, see ``make soak``.

A decoder may refuse a message in the way that it declares and must do nothing else: no other exception, no output over
its bounds, no long computation. What fails is written to a file that ``--replay`` takes. The decoders are in
``decoders``.
"""

import argparse
import json
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import decoders
import recorded
from decoders import Target
from mutator import Mutator

INPUT_S = 2.0
_HANG_S = 20.0
_TURN = 200
_MEMORY_BYTES = 3 * 1024 * 1024 * 1024


class Finding(Exception):
    """A message that a decoder does not stand; the text says which file holds it."""


def examine(target: Target, frames: list[bytes], note: Callable[[], Path]) -> None:
    """Hand one message to a decoder; Finding if it does not stand it."""
    began = time.process_time()
    try:
        with _alarm():
            target.check(frames)
        taken = time.process_time() - began
        assert taken < INPUT_S, f"took {taken:.1f} s"
    except Exception as error:
        said = f"{target.name}: {type(error).__name__}: {str(error)[:300]}"
        raise Finding(f"{said}; the message is in {note()}") from error


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"still busy after {_HANG_S} s of computing")

    signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, _HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def attack(target: Target, seed: int, count: int, folder: Path) -> None:
    """That many messages of one seed."""
    mutator = Mutator(seed, target.corpus)
    for number in range(count):
        frames = mutator.next()

        def note(frames: list[bytes] = frames, number: int = number) -> Path:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"python-{target.name}-{seed}-{number}.json"
            shown = {"target": target.name, "seed": seed, "frames": [recorded.to_text(frame) for frame in frames]}
            path.write_text(json.dumps(shown), encoding="utf-8")
            return path

        examine(target, frames, note)


def replay(path: Path) -> None:
    """The message of an earlier finding again."""
    said = json.loads(path.read_text(encoding="utf-8"))
    (target,) = [target for target in decoders.targets() if target.name == said["target"]]
    examine(target, [recorded.to_frame(frame) for frame in said["frames"]], lambda: path)


def soak(seconds: float, seed: int, folder: Path) -> int:
    """All decoders in turns for that much time of one processor; how many of them failed. One that failed rests."""
    print(f"fuzz: Python, seed {seed}, {seconds:.0f} s", flush=True)
    waiting, told, failed = decoders.targets(), 0.0, 0
    counts = dict.fromkeys((target.name for target in waiting), 0)
    while waiting and time.process_time() < seconds:
        for target in list(waiting):
            try:
                attack(target, seed, _TURN, folder)
                counts[target.name] += _TURN
            except Finding as finding:
                print(f"fuzz: FOUND {finding}", flush=True)
                waiting.remove(target)
                failed += 1
        seed += 1
        if time.process_time() - told >= 30:
            told = time.process_time()
            print(f"fuzz: Python, {told:.0f} s of CPU, {counts}", flush=True)
    print(f"fuzz: Python, {time.process_time():.0f} s of CPU in all, {failed} findings, {counts}", flush=True)
    return failed


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--folder", type=Path, default=Path("build/soak"))
    parser.add_argument("--replay", type=Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    if given.replay is not None:
        replay(given.replay)
        return 0
    return 1 if soak(given.seconds, given.seed, given.folder) else 0


if __name__ == "__main__":
    sys.exit(main())
