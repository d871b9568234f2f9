package dev.sandglass.gateway.http;

import io.netty.handler.codec.http.HttpVersion;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** How a client learns where an answer ends. */
public final class Framing {

    private Framing() {}

    /**
     * For an answer that has not begun: HTTP/1.0 knows no chunks (RFC 9112, section 6.1). What has no length ends there with
     * the connection.
     */
    public static void fit(HttpServerRequest request, HttpServerResponse response) {
        if (request.version().compareTo(HttpVersion.HTTP_1_1) < 0) {
            response.chunkedTransfer(false).keepAlive(false);
        }
    }
}
