"""Runs in a sandbox: calls a shared server's tool from THREADS threads at once; prints microseconds of each as JSON.

The line with SERVER, THREADS and CALLS is replaced before.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import mcptools

SERVER, THREADS, CALLS = "bench", 1, 1


def calls(first):
    taken = []
    for number in range(first, first + CALLS):
        begun = time.perf_counter()
        total = mcptools.call(SERVER, "add", {"a": number, "b": 1})["sum"]
        taken.append(round((time.perf_counter() - begun) * 1e6))
        if total != number + 1:
            raise ValueError(total)
    return taken


with ThreadPoolExecutor(THREADS) as pool:
    print(json.dumps([each for thread in pool.map(calls, range(THREADS)) for each in thread]))
