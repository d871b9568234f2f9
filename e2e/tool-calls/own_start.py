"""Runs in a sandbox: how long an MCP server takes to start and to list its tools, in milliseconds.

The line with SOURCE is replaced before.
"""

import json
import shutil
import subprocess
import time

SOURCE = ""

begun = time.perf_counter()
server = subprocess.Popen([shutil.which("python3"), "-c", SOURCE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for method, params in (("initialize", {"protocolVersion": "2025-11-25"}), ("tools/list", {})):
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    json.loads(server.stdout.readline())["result"]
print((time.perf_counter() - begun) * 1000)
server.stdin.close()
server.wait()
