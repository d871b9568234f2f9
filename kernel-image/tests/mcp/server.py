"""An MCP server of the standard library alone, over stdio; its first argument says how it behaves.

usage: server.py [BEHAVIOUR] [FILE]

BEHAVIOUR is well, mute, broken, flood, many, pages, quits, noisy, odd, chatty or storm; FILE is for cancellations.

Into FILE.begun it writes a line for each call of the tool ``slow``, into FILE.lists one for each list of its tools.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

BEHAVIOUR = sys.argv[1] if len(sys.argv) > 1 else "well"
NOTES = sys.argv[2] if len(sys.argv) > 2 else os.devnull
WRITING = threading.Lock()
NUMBER = {"type": "number"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "add",
        "description": "Adds two numbers.\nSecond line.",
        "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
        "outputSchema": {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]},
    },
    *(
        {"name": name, "description": f"{name} \u202e\x1b[31m", "inputSchema": {"type": "object"}}
        for name in ("echo", "wrong", "fails", "slow", "big", "dies", "env", "pid", "grows", "values")
    ),
]

ODD: list[Any] = [
    {"name": "untyped", "inputSchema": {"properties": {"a": NUMBER}}},
    {"name": "list", "inputSchema": {"type": "array"}},
    {"name": "bare"},
    {"name": "text", "inputSchema": "object"},
    {"inputSchema": {"type": "object"}},
    {"name": 7, "inputSchema": {"type": "object"}},
    {"name": "hint", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": []}},
    "tool",
    None,
]


def send(message: dict[str, Any]) -> None:
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def slow(given: dict[str, Any]) -> dict[str, Any]:
    if BEHAVIOUR == "chatty":
        with WRITING:
            print("sleeps now", flush=True)
    if os.devnull != NOTES:
        with WRITING, open(NOTES + ".begun", "a") as begun:
            begun.write("begun\n")
    time.sleep(given["seconds"])
    return text("slept")


def dies(_: dict[str, Any]) -> dict[str, Any]:
    sys.stderr.write("no more of this\x1b[31m\n" + os.environ.get("LAST_WORDS", ""))
    sys.stderr.flush()
    os._exit(3)


def grows(_given: dict[str, Any]) -> dict[str, Any]:
    TOOLS.append({"name": "late", "description": "came later", "inputSchema": {"type": "object"}})
    for _ in range(2000 if BEHAVIOUR == "storm" else 1):
        send({"method": "notifications/tools/list_changed"})
    return text("grew")


CALLS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "add": lambda given: text("the sum", structuredContent={"sum": given["a"] + given["b"]}),
    "echo": lambda given: text(json.dumps(given)),
    "wrong": lambda _: text("that is not how it works", isError=True),
    "slow": slow,
    "big": lambda given: text("x" * given["bytes"]),
    "dies": dies,
    "env": lambda given: text(str(os.environ.get(given["name"]))),
    "pid": lambda _: text(str(os.getpid())),
    "grows": grows,
    "values": lambda given: text("", structuredContent={"values": [1] * given["count"]}),
}


def answer(number: int, method: str, params: dict[str, Any]) -> None:
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        about = {"name": "test\x1b[31m", "version": "1.0"}
        version = params["protocolVersion"]
        send({"id": number, "result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}})
    elif method == "tools/list":
        send({"id": number, "result": listed()})
    elif method == "tools/call":
        tool = CALLS.get(params["name"])
        if tool is None:
            send({"id": number, "error": {"code": -32000, "message": "the server said no"}})
        else:
            send({"id": number, "result": tool(params.get("arguments") or {})})
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def listed() -> dict[str, Any]:
    if os.devnull != NOTES:
        with WRITING, open(NOTES + ".lists", "a") as lists:
            print("listed", file=lists)
    if BEHAVIOUR == "many":
        return {"tools": [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(1000)]}
    if BEHAVIOUR == "odd":
        return {"tools": [*ODD, *TOOLS]}
    if BEHAVIOUR == "pages":
        return {"tools": [], "nextCursor": "more"}
    return {"tools": TOOLS}


def main() -> None:
    if BEHAVIOUR == "quits":
        sys.exit("a key is missing")
    if BEHAVIOUR == "noisy":
        threading.Thread(target=lambda: [sys.stderr.write("noise " * 100 + "\n") for _ in range(100_000)]).start()
    while BEHAVIOUR == "flood":
        sys.stdout.write("x" * 1_000_000)
    for line in sys.stdin:
        if BEHAVIOUR == "broken":
            sys.stdout.write("this is no message\n")
            sys.stdout.flush()
            continue
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            with open(NOTES, "a") as notes:
                notes.write("cancelled\n")
        elif "id" in message and "method" in message and BEHAVIOUR != "mute":
            threading.Thread(
                target=answer, args=(message["id"], message["method"], message.get("params") or {}), daemon=True
            ).start()


main()
