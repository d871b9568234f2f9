package dev.sandglass.egress.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.egress.testing.HttpMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever comes as the first bytes of TLS: one verdict, and more bytes do not change it. */
class HelloFuzzTest {

    @Test
    void mutated() throws NoSuchAlgorithmException, IOException {
        List<List<byte[]>> corpus = List.of(
                List.of(ClientHelloTest.ofThePlatform("example.com")),
                List.of(Hellos.naming("example.com")),
                List.of(Hellos.records(Hellos.message(Hellos.serverName("example.com")), 10)));
        Fuzz.attack(HttpMutator::new, "hellos", corpus, HelloFuzzTest::examine);
    }

    /** More bytes change a verdict only while there is none. */
    private static void examine(List<byte[]> message) {
        byte[] bytes = message.getFirst();
        Peek whole = ClientHello.peek(bytes);
        int from = 0;
        while (ClientHello.peek(Arrays.copyOf(bytes, from)) instanceof Peek.More more
                && more.needed() <= bytes.length) {
            assertThat(more.needed()).isGreaterThan(from);
            from = more.needed();
        }
        Peek last = ClientHello.peek(Arrays.copyOf(bytes, from));
        // The begin of a record's head may already tell that it is none.
        assertThat(last.equals(whole) || (last instanceof Peek.More && !(whole instanceof Peek.Named)))
                .isTrue();
        assertThat(ClientHello.peek(Hellos.joined(bytes, new byte[] {1, 2, 3})))
                .satisfies(later -> assertThat(whole instanceof Peek.More || later.equals(whole))
                        .isTrue());
    }
}
