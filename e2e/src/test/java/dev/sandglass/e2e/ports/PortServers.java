package dev.sandglass.e2e.ports;

/** Programs that serve on a port of a sandbox, without a library that an image might lack. */
final class PortServers {

    /** Answers with the path and the caller's credentials or own header, if one came; a thread for each request. */
    static final String WEB = """
            import http.server, sys
            class Echo(http.server.BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"
                def do_GET(self):
                    names = ("Authorization", "Cf-Access-Jwt-Assertion", "X-Api-Key", "X-Sandbox-Own")
                    came = next((self.headers[name] for name in names if name in self.headers), None)
                    body = f"web of {sys.argv[2]} {self.path} {came}".encode()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.send_header("Set-Cookie", "a=b; Path=/")
                    self.send_header("Set-Login", "logged-in")
                    self.send_header("X-Sandbox-Own", "back")
                    self.end_headers()
                    self.wfile.write(body)
            http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Echo).serve_forever()
            """;

    /** Accepts WebSockets and sends short texts back, each after "echo ". */
    static final String SOCKET = """
            import base64, hashlib, socketserver, sys
            class Echo(socketserver.StreamRequestHandler):
                def handle(self):
                    key = ""
                    for line in iter(self.rfile.readline, b"\\r\\n"):
                        name, _, value = line.decode().partition(":")
                        if name.lower() == "sec-websocket-key":
                            key = value.strip()
                    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
                    self.wfile.write(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                        b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\\r\\n\\r\\n")
                    while True:
                        head = self.rfile.read(2)
                        if len(head) < 2 or head[0] & 15 == 8:
                            return
                        mask = self.rfile.read(4)
                        data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
                        answer = b"echo " + data
                        self.wfile.write(bytes([129, len(answer)]) + answer)
            class Server(socketserver.ThreadingTCPServer):
                allow_reuse_address = daemon_threads = True
            Server(("0.0.0.0", int(sys.argv[1])), Echo).serve_forever()
            """;

    private PortServers() {}
}
