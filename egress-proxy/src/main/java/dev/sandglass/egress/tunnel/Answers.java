package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.client.Client;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** What the proxy itself answers. The reader of a failed program's log is often a model. */
public final class Answers {

    private Answers() {}

    /** A tunnel is open. */
    public static ByteBuf established() {
        return Unpooled.copiedBuffer("HTTP/1.1 200 Connection established\r\n\r\n", StandardCharsets.US_ASCII);
    }

    /** A request of which no more is known than that it is refused. */
    public static ByteBuf refusal(Outcome outcome, String why) {
        return answer(outcome, "error: " + why + "\n");
    }

    /** A target that a sandbox does not reach, and what to do about it. */
    public static ByteBuf refusal(Outcome outcome, Client client, Target target, String why) {
        String host = target.host().toString();
        String remedy =
                switch (outcome) {
                    case NOT_ALLOWED ->
                        "remedy: add it to spec.allowedDomains of the sandbox (allowed_domains of sandbox_start)\n";
                    case ADDRESS_DENIED -> "remedy: ask the administrator of this installation to allow the address\n";
                    case LOOKUP_FAILED, CONNECT_FAILED ->
                        "remedy: it is allowed; check host and port, or try again later\n";
                    case TOO_MANY_TUNNELS, TOO_MANY_NEW_TUNNELS -> "remedy: use fewer connections, or wait\n";
                    case ALLOWED, MALFORMED, UNKNOWN_SANDBOX, HEAD_TOO_SLOW, QUOTA_EXCEEDED, HEAD_TOO_LONG, NOT_READY ->
                        "";
                };
        return answer(
                outcome,
                "error: " + why + "\nhost: " + host + "\nport: " + target.port() + "\nsandbox: " + client.namespace()
                        + "/" + client.sandbox() + "\n" + remedy);
    }

    private static ByteBuf answer(Outcome outcome, String text) {
        String what = outcome.isOfTheWay() ? "did not reach this host" : "refused this request";
        byte[] body = ("The egress proxy " + what + ".\n" + text).getBytes(StandardCharsets.UTF_8);
        String more =
                switch (outcome.status()) {
                    case 407 -> "Proxy-Authenticate: Basic realm=\"sandglass\"\r\n";
                    case 429, 503 -> "Retry-After: 1\r\n";
                    default -> "";
                };
        String head = "HTTP/1.1 " + outcome.status() + " " + outcome.reason() + "\r\nX-Proxy-Error: " + outcome.code()
                + "\r\n" + more + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " + body.length
                + "\r\nConnection: close\r\n\r\n";
        return Unpooled.wrappedBuffer(head.getBytes(StandardCharsets.US_ASCII), body);
    }

    /** TLS's way to say that access is denied. */
    public static ByteBuf tlsAccessDenied() {
        return Unpooled.wrappedBuffer(new byte[] {21, 3, 3, 0, 2, 2, 49});
    }
}
