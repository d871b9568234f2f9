package dev.sandglass.egress.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.egress.request.ForwardedHead;
import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.request.Refusal;
import dev.sandglass.egress.request.RequestHead;
import dev.sandglass.egress.testing.HttpMutator;
import dev.sandglass.egress.tunnel.Outcome;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What the parser accepts is exactly what is looked up and dialled, and exactly what a second reading of the same bytes
 * makes of them, which shares no line with the first.
 */
class DialledFuzzTest {

    private static final Pattern REQUEST_LINE =
            Pattern.compile("\\A([!-~]+) ([!-~\\x80-\\xff]+) HTTP/1\\.[01]\r\n", Pattern.DOTALL);
    private static final Pattern AUTHORITY = Pattern.compile("(?i)\\Ahttp://([^/?]*)");
    private static final Pattern HOST_AND_PORT = Pattern.compile("\\A(\\[[^\\]]*\\]|[^:\\[\\]]*)(?::([0-9]+))?\\z");
    private static final Pattern FOUR_NUMBERS = Pattern.compile("[0-9]+(\\.[0-9]+){3}");
    private static final Pattern HOST_FIELD = Pattern.compile("(?imd)^Host:[ \t]*([^\r]*?)[ \t]*\r$");

    /** Host in lower case without a dot at its end, and port. */
    private record Second(String host, int port) {

        static Second of(String authority, int otherwise) {
            Matcher parts = HOST_AND_PORT.matcher(authority);
            assertThat(parts.matches()).as(authority).isTrue();
            String host = parts.group(1).toLowerCase(Locale.ROOT);
            String port = parts.group(2);
            return new Second(
                    host.endsWith(".") ? host.substring(0, host.length() - 1) : host,
                    port == null ? otherwise : Integer.parseInt(port));
        }

        boolean isLiteral() {
            return host.startsWith("[") || FOUR_NUMBERS.matcher(host).matches();
        }

        InetAddress literal() {
            return InetAddress.ofLiteral(host.replace("[", "").replace("]", ""));
        }
    }

    @Test
    void dialled() throws IOException {
        Fuzz.attack(
                HttpMutator::new,
                "dialled",
                Stream.of(
                                "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
                                "CONNECT [2606:2800::1]:443 HTTP/1.0\r\n\r\n",
                                "CONNECT [::ffff:93.184.215.14]:443 HTTP/1.1\r\nHost: x\r\n\r\n",
                                "CONNECT 93.184.215.14:8443 HTTP/1.1\r\nHost: 93.184.215.14:8443\r\n\r\n",
                                "CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n",
                                "GET http://Example.COM./a?b HTTP/1.1\r\nHost: example.com\r\n\r\n",
                                "GET http://10.0.0.1:8080 HTTP/1.1\r\nHost: 10.0.0.1:8080\r\nConnection: x\r\n\r\n")
                        .map(text -> List.of(text.getBytes(StandardCharsets.ISO_8859_1)))
                        .toList(),
                DialledFuzzTest::examine);
    }

    private static void examine(List<byte[]> message) throws Exception {
        byte[] bytes = message.getFirst();
        ProxyRequest request;
        try {
            request = ProxyRequest.of(RequestHead.parse(bytes));
        } catch (Refusal refusal) {
            return;
        }
        Second second = second(new String(bytes, StandardCharsets.ISO_8859_1));
        assertThat(request.target().port()).isEqualTo(second.port()).isBetween(1, 65_535);
        List<String> asked = new ArrayList<>();
        Destinations destinations = new Destinations(
                name -> {
                    asked.add(name.toString());
                    return CompletableFuture.completedStage(List.of());
                },
                new DeniedRanges(List.of(), List.of()),
                Duration.ofSeconds(1));
        Destination destination =
                destinations.of(request.target().host()).toCompletableFuture().get();
        if (second.isLiteral()) {
            assertThat(asked).isEmpty();
            examineLiteral(second.literal(), destination);
        } else {
            assertThat(asked).containsExactly(second.host());
        }
        if (request instanceof ProxyRequest.Forward forward) {
            examineForwarded(new String(ForwardedHead.bytes(forward.head()), StandardCharsets.ISO_8859_1), second);
        }
    }

    private static Second second(String text) {
        Matcher line = REQUEST_LINE.matcher(text);
        assertThat(line.find()).isTrue();
        if (line.group(1).equals("CONNECT")) {
            return Second.of(line.group(2), -1);
        }
        Matcher authority = AUTHORITY.matcher(line.group(2));
        assertThat(authority.find()).isTrue();
        return Second.of(authority.group(1), 80);
    }

    private static void examineLiteral(InetAddress address, Destination destination) {
        boolean inner = address.isLoopbackAddress()
                || address.isAnyLocalAddress()
                || address.isLinkLocalAddress()
                || address.isSiteLocalAddress()
                || address.isMulticastAddress();
        switch (destination) {
            case Destination.Reachable reachable -> {
                assertThat(inner).as("%s is dialled", address).isFalse();
                assertThat(reachable.addresses()).singleElement().satisfies(dialled -> assertThat(
                                dialled.toInetAddress())
                        .isEqualTo(address));
            }
            case Destination.Refused refused -> assertThat(refused.outcome()).isEqualTo(Outcome.ADDRESS_DENIED);
        }
    }

    /** The server reads whom it is asked for in the one field Host. */
    private static void examineForwarded(String head, Second second) {
        List<String> hosts =
                HOST_FIELD.matcher(head).results().map(found -> found.group(1)).toList();
        assertThat(hosts).hasSize(1);
        Second told = Second.of(hosts.getFirst(), 80);
        assertThat(told.port()).isEqualTo(second.port());
        if (second.isLiteral()) {
            assertThat(told.literal()).isEqualTo(second.literal());
        } else {
            assertThat(told.host()).isEqualTo(second.host());
        }
        assertThat(head.split(" ", 3)[1]).startsWith("/");
    }
}
