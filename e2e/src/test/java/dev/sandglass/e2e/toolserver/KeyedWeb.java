package dev.sandglass.e2e.toolserver;

import dev.sandglass.e2e.support.Kubectl;

/** An MCP server over HTTP for tests. It listens in the pod from which it is called: no network stands in between. */
final class KeyedWeb {

    /** Where the session in that pod finds it. */
    static final String URL = "http://localhost:8765/mcp";

    /** Its tool {@code digest} answers with the SHA-256 of the header Authorization. */
    private static final String SERVER = """
            import hashlib
            import json
            from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

            TOOL = {"name": "digest", "inputSchema": {"type": "object"}}


            class Handler(BaseHTTPRequestHandler):
                def do_POST(self):
                    asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    given = asked.get("params") or {}
                    method = asked.get("method")
                    if method == "initialize":
                        about = {"name": "Web", "version": "1"}
                        version = given["protocolVersion"]
                        self.say(asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
                    elif method == "tools/list":
                        self.say(asked, {"tools": [TOOL]})
                    elif method == "tools/call":
                        found = hashlib.sha256(str(self.headers["Authorization"]).encode()).hexdigest()
                        self.say(asked, {"content": [{"type": "text", "text": found}]})
                    elif "id" in asked:
                        self.send(200, {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}})
                    else:
                        self.send(202, None)

                def do_GET(self):
                    self.send_error(405)

                def say(self, asked, result):
                    self.send(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result})

                def send(self, status, message):
                    body = b"" if message is None else json.dumps(message).encode()
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

                def log_message(self, *_):
                    pass


            ThreadingHTTPServer(("127.0.0.1", 8765), Handler).serve_forever()
            """;

    private KeyedWeb() {}

    /** Starts it in the pod of a Sandbox. */
    static void start(Kubectl kubectl, String sandbox) {
        kubectl.in(sandbox, "sh", "-c", "setsid python3 -c \"$0\" </dev/null >/dev/null 2>&1 &", SERVER);
    }
}
