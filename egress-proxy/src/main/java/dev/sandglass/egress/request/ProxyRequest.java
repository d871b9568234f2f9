package dev.sandglass.egress.request;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.Target;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;

/** What a client wants of the proxy. */
public sealed interface ProxyRequest {

    /** Where to. */
    Target target();

    /** What stands in {@code Proxy-Authorization}, if anything. */
    Optional<String> credential();

    /** A tunnel: the proxy passes bytes on without reading them, but for the first ones of TLS. */
    record Tunnel(Target target, Optional<String> credential) implements ProxyRequest {
        @Override
        public String toString() {
            return "Tunnel[" + target + "]";
        }
    }

    /**
     * One request of plain HTTP.
     *
     * @param head for the server: without what was meant for the proxy
     * @param body how long the body is that follows
     */
    record Forward(Target target, Optional<String> credential, RequestHead head, BodyLength body)
            implements ProxyRequest {
        @Override
        public String toString() {
            return "Forward[" + target + "]";
        }
    }

    /** A connection that came straight here and said in its first message of TLS whom it is for. */
    record Direct(Target target) implements ProxyRequest {
        @Override
        public Optional<String> credential() {
            return Optional.empty();
        }
    }

    /**
     * Reads a request of a client that takes the proxy for the server: the target is a path, and {@code Host} says whose.
     *
     * @param port the only one that this way leads to
     * @throws Refusal saying which rule it breaks
     */
    static ProxyRequest direct(RequestHead head, int port) throws Refusal {
        Optional<String> credential = head.single("Proxy-Authorization");
        BodyLength body = BodyLength.of(head);
        String path = head.target();
        if (!path.startsWith("/") || path.indexOf('#') >= 0) {
            throw new Refusal("the target must be a path, such as /index.html, and the method not CONNECT;"
                    + " whole URLs are for the proxy's own port");
        }
        Optional<String> host = head.single("Host");
        if (host.isEmpty()) {
            throw new Refusal("the header field Host is missing");
        }
        Target target = target(host.get(), OptionalInt.of(port));
        if (target.port() != port) {
            throw new Refusal("the header field Host must name no other port than " + port);
        }
        return new Forward(target, credential, ForwardedHead.of(head, path, target), body);
    }

    /**
     * Reads a request.
     *
     * @throws Refusal saying which rule it breaks
     */
    static ProxyRequest of(RequestHead head) throws Refusal {
        Optional<String> credential = head.single("Proxy-Authorization");
        BodyLength body = BodyLength.of(head);
        if (head.method().equals("CONNECT")) {
            Target target = target(head.target(), OptionalInt.empty());
            if (!body.equals(new BodyLength.Exactly(0))) {
                throw new Refusal("a CONNECT request must not have a body");
            }
            checkHost(head, target, OptionalInt.of(target.port()), false);
            return new Tunnel(target, credential);
        }
        return forward(head, credential, body);
    }

    private static ProxyRequest forward(RequestHead head, Optional<String> credential, BodyLength body) throws Refusal {
        String url = head.target();
        int scheme = url.indexOf("://");
        if (scheme < 0) {
            throw new Refusal("this is a proxy: the target must be a whole URL, such as http://example.com/");
        }
        if (!url.substring(0, scheme).toLowerCase(Locale.ROOT).equals("http")) {
            throw new Refusal("only http URLs are forwarded; use CONNECT for everything else");
        }
        if (url.indexOf('#') >= 0) {
            throw new Refusal("the target must not have a fragment");
        }
        String rest = url.substring(scheme + 3);
        int end = pathBegin(rest);
        Target target = target(rest.substring(0, end), OptionalInt.of(DomainRule.HTTP));
        checkHost(head, target, OptionalInt.of(DomainRule.HTTP), head.minor() == 1);
        String path = rest.substring(end);
        RequestHead inner = ForwardedHead.of(head, path.startsWith("/") ? path : "/" + path, target);
        return new Forward(target, credential, inner, body);
    }

    private static int pathBegin(String rest) {
        for (int i = 0; i < rest.length(); i++) {
            // A backslash is a slash to some programs; here it stays with the host, where it is refused.
            if (rest.charAt(i) == '/' || rest.charAt(i) == '?') {
                return i;
            }
        }
        return rest.length();
    }

    private static Target target(String authority, OptionalInt port) throws Refusal {
        try {
            return Target.parse(authority, port);
        } catch (IllegalArgumentException e) {
            throw new Refusal("the target is wrong: " + e.getMessage());
        }
    }

    /** The field {@code Host} says the same as the target; some clients leave the port out. */
    private static void checkHost(RequestHead head, Target target, OptionalInt port, boolean required) throws Refusal {
        Optional<String> host = head.single("Host");
        if (host.isEmpty()) {
            if (required) {
                throw new Refusal("the header field Host is missing");
            }
            return;
        }
        Host asked = target.host();
        Target said;
        try {
            said = Target.parse(host.get(), port);
        } catch (IllegalArgumentException e) {
            throw new Refusal("the header field Host is wrong: " + e.getMessage());
        }
        if (!said.host().equals(asked) || said.port() != target.port()) {
            throw new Refusal("the header field Host must say the same as the target");
        }
    }
}
