"""An MCP server with one trivial tool, of Python's standard library alone: what is measured is the way to it."""

import json
import sys

NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
TOOLS = [{"name": "add", "description": "Adds two numbers.", "inputSchema": NUMBERS, "outputSchema": SUM}]


def result(method, given):
    if method == "initialize":
        info = {"name": "bench", "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        total = given["arguments"]["a"] + given["arguments"]["b"]
        return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"sum": total}}
    return {} if method == "ping" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        found = result(asked["method"], asked.get("params") or {})
        answer = {"error": {"code": -32601, "message": "Method not found"}} if found is None else {"result": found}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
