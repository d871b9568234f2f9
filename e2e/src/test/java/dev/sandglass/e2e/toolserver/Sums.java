package dev.sandglass.e2e.toolserver;

/** An MCP server for tests, as a file of the sandbox. */
final class Sums {

    /** A whole server, of Python's standard library alone. */
    static final String SERVER = """
            import json
            import os
            import sys
            import time

            NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
            SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
            NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            TOOLS = [
                {"name": "Add-Numbers", "description": "Adds two numbers.\\nNot more.", "inputSchema": NUMBERS, "outputSchema": SUM},
                {"name": "greet", "description": "Greets.", "inputSchema": NAME},
                {"name": "fail", "description": "Fails.", "inputSchema": {"type": "object", "properties": {}}},
            ]


            def text(said, **more):
                return {"content": [{"type": "text", "text": said}], **more}


            def called(tool, given):
                if tool == "Add-Numbers":
                    total = given["a"] + given["b"]
                    return text(str(total), structuredContent={"sum": total})
                if tool == "greet":
                    time.sleep(float(os.environ.get("SECONDS", "0")))
                    return text(os.environ.get("GREETING", "Hello") + ", " + given["name"])
                return text("it fails on purpose", isError=True)


            def answer(method, given):
                if method == "initialize":
                    info = {"name": "Sums", "version": "1.5"}
                    return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
                if method == "tools/list":
                    return {"tools": TOOLS}
                if method == "tools/call":
                    return called(given["name"], given.get("arguments") or {})
                return {} if method == "ping" else None


            for line in sys.stdin:
                asked = json.loads(line)
                if "id" in asked and "method" in asked:
                    result = answer(asked["method"], asked.get("params") or {})
                    error = {"code": -32601, "message": "Method not found"}
                    said = {"error": error} if result is None else {"result": result}
                    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
            """;

    private Sums() {}
}
