"""Runs in a sandbox, or in ipybox's kernel: times a tool called by its typed function, and the server asked directly.

MODULE and SERVER are replaced before. Prints microseconds of each call as JSON, blocks of both ways in turn.
"""

import json
import shutil
import subprocess
import time

from mcptools.MODULE.add import Params, run

BLOCKS, CALLS = 10, 99  # with the first one, what one execution may call

server = subprocess.Popen([shutil.which("python3"), "SERVER"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(method, params):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]


def directly(number):
    return ask("tools/call", {"name": "add", "arguments": {"a": number, "b": 1}})["structuredContent"]["sum"]


def by_function(number):
    return run(Params(a=number, b=1)).sum


def block(way):
    taken = []
    for number in range(CALLS):
        begun = time.perf_counter()
        total = way(number)
        taken.append(round((time.perf_counter() - begun) * 1e6))
        if total != number + 1:
            raise ValueError(total)
    return taken


me = {"name": "bench", "version": "1"}
ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": me})
by_function(0)
found = {"function": [], "direct": []}
for _ in range(BLOCKS):
    found["function"] += block(by_function)
    found["direct"] += block(directly)
server.stdin.close()
server.wait()
print(json.dumps(found))
