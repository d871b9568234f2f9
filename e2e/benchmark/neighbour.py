"""What a neighbour notices of code that does its worst in another sandbox: its calls before, meanwhile and after."""

from __future__ import annotations

import secrets
from typing import Any

from agent import Agent

from .cold_start import start, stop
from .elsewhere import caller
from .figures import summary
from .overhead import connect, through_the_gateway

ABUSE_S = 5
# As long as the abuse; of 200 calls the p99 was the second worst, and by itself differed by more than what is measured.
CALLS = 1000
ABUSES = {
    "processes": """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    "threads": """
import threading, time
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError:
    while True:
        time.sleep(1)
""",
    "memory": "hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 20))",
    "processor": "import os\nfor _ in range(16):\n    os.fork()\nwhile True:\n    pass",
    "output": "while True:\n    print('x' * 1000)",
    "siblings": """
import os, signal
while True:
    for pid in (os.getppid(), -1):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
""",
    "descriptors": "import os\nos.closerange(3, 4096)\nwhile True:\n    pass",
    "disk": "while True:\n    open('/workspace/big', 'wb').write(bytes(1 << 28))",
}


@caller()
def measure(agent: Agent) -> dict[str, Any]:
    neighbour = f"bench-{secrets.token_hex(3)}"
    start(agent, neighbour)
    connection = connect(agent)
    found = {}
    try:
        through_the_gateway(agent, connection, neighbour, CALLS)
        for name, code in ABUSES.items():
            before = summary(through_the_gateway(agent, connection, neighbour, CALLS))
            abuser = f"bench-{secrets.token_hex(3)}"
            start(agent, abuser)
            try:
                agent.call("sandbox_run_code", sandbox=abuser, code=code, timeout=ABUSE_S, background=True)
                meanwhile = summary(through_the_gateway(agent, connection, neighbour, CALLS))
            finally:
                stop(agent, abuser)
            after = summary(through_the_gateway(agent, connection, neighbour, CALLS))
            ratio = round(meanwhile["p99"] / before["p99"], 2)
            found[name] = {"before_ms": before, "meanwhile_ms": meanwhile, "after_ms": after, "p99_ratio": ratio}
            print(f"  {name}: p99 {before['p99']:.1f}, {meanwhile['p99']:.1f}, {after['p99']:.1f} ms", flush=True)
    finally:
        connection.close()
        stop(agent, neighbour)
    return found
