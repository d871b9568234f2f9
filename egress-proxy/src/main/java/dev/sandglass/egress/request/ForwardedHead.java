package dev.sandglass.egress.request;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.Target;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The head as the server gets it: target as a path, {@code Host} from the checked target, nothing that concerns only the
 * connection to the proxy. The connection to the server serves this one request.
 */
public final class ForwardedHead {

    private static final Set<String> OF_THE_CONNECTION = Set.of(
            "connection",
            "host",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "upgrade",
            "http2-settings");

    /** Removing these would change where the request goes or where it ends. */
    private static final Set<String> NEVER_NAMED = Set.of("host", "content-length", "transfer-encoding");

    private ForwardedHead() {}

    static RequestHead of(RequestHead head, String path, Target target) throws Refusal {
        Set<String> named = namedByConnection(head);
        List<Field> fields = new ArrayList<>();
        fields.add(new Field(
                "Host", target.port() == DomainRule.HTTP ? target.host().toString() : target.toString()));
        for (Field field : head.fields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            if (!OF_THE_CONNECTION.contains(name) && !named.contains(name)) {
                fields.add(field);
            }
        }
        fields.add(new Field("Connection", "close"));
        return new RequestHead(head.method(), path, head.minor(), fields);
    }

    private static Set<String> namedByConnection(RequestHead head) throws Refusal {
        Set<String> named = head.fields().stream()
                .filter(field -> field.is("Connection") || field.is("Proxy-Connection"))
                .flatMap(field -> Arrays.stream(field.value().split(",", -1)))
                .map(name -> name.strip().toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        if (named.stream().anyMatch(NEVER_NAMED::contains)) {
            throw new Refusal("the header field Connection must not name Host, Content-Length or Transfer-Encoding");
        }
        return named;
    }

    /** The head in bytes, the empty line included. */
    public static byte[] bytes(RequestHead head) {
        StringBuilder text = new StringBuilder();
        text.append(head.method()).append(' ').append(head.target());
        text.append(" HTTP/1.").append(head.minor()).append("\r\n");
        head.fields().forEach(field -> text.append(field.name())
                .append(": ")
                .append(field.value())
                .append("\r\n"));
        return text.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
