package dev.sandglass.egress.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.HostName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first bytes of TLS: whole, in pieces, and as they must not be. */
class ClientHelloTest {

    private static final Peek EXAMPLE = new Peek.Named(HostName.parse("example.com"));

    private static void refused(byte[] bytes, String part) {
        assertThat(ClientHello.peek(bytes))
                .isInstanceOfSatisfying(
                        Peek.Refused.class, refused -> assertThat(refused.why()).contains(part));
    }

    /** What Java's own TLS says first. */
    static byte[] ofThePlatform(String name) throws NoSuchAlgorithmException, SSLException {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine(name, 443);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        engine.setSSLParameters(parameters);
        ByteBuffer wire = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), wire);
        return Arrays.copyOf(wire.array(), wire.position());
    }

    @Test
    void aRealClient() throws NoSuchAlgorithmException, SSLException {
        assertThat(ClientHello.peek(ofThePlatform("Example.com"))).isEqualTo(EXAMPLE);
    }

    @Test
    void cutAnywhereItNeedsMore() {
        byte[] whole = Hellos.naming("EXAMPLE.com");
        for (int length = 0; length < whole.length; length++) {
            int there = length;
            assertThat(ClientHello.peek(Arrays.copyOf(whole, length)))
                    .isInstanceOfSatisfying(
                            Peek.More.class, more -> assertThat(more.needed()).isBetween(there + 1, whole.length));
        }
        assertThat(ClientHello.peek(whole)).isEqualTo(EXAMPLE);
        assertThat(ClientHello.peek(Hellos.joined(whole, new byte[] {20, 3, 3, 0, 1, 1})))
                .isEqualTo(EXAMPLE);
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 10, 50, 1000})
    void cutIntoRecords(int size) {
        byte[] message = Hellos.message(Hellos.serverName("example.com"));
        byte[] records = Hellos.records(message, size);
        if (message.length > size * ClientHello.MAX_RECORDS) {
            refused(records, "more than 16 records");
        } else {
            assertThat(ClientHello.peek(records)).isEqualTo(EXAMPLE);
        }
    }

    @Test
    void whatIsNotTls() {
        refused("GET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII), "not TLS");
        refused(new byte[] {'S'}, "not TLS");
        refused(new byte[] {22, 2}, "not TLS");
        refused(new byte[] {22, 3, 5}, "not TLS");
        refused(new byte[] {(byte) 0x80, 0x2e, 1, 3, 1}, "not TLS");
        refused(new byte[] {21, 3, 1, 0, 2, 2, 40}, "not TLS");
        refused(new byte[] {22, 3, 1, 0, 0}, "empty record");
        refused(Hellos.record(new byte[] {2, 0, 0, 0}), "not a ClientHello");
    }

    @Test
    void whatHidesTheName() {
        refused(Hellos.naming("example.com", Hellos.extension(0xfe0d, new byte[] {0, 1, 2})), "ECH");
        refused(Hellos.naming("example.com", Hellos.extension(0xffce, new byte[0])), "ECH");
    }

    @Test
    void whatNamesNoServerOrSeveral() {
        refused(Hellos.record(Hellos.message(new byte[0])), "names no server");
        refused(Hellos.record(Hellos.message(Hellos.extension(10, new byte[] {0, 0}))), "names no server");
        refused(Hellos.naming("example.com", Hellos.serverName("evil.com")), "extension twice");
        byte[] entry = Hellos.joined(new byte[] {0}, Hellos.counted(2, new byte[] {'a'}));
        byte[] two = Hellos.extension(0, Hellos.counted(2, Hellos.joined(entry, entry)));
        refused(Hellos.record(Hellos.message(two)), "more than one server");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "example.com\0.evil.com", "exa mple.com", "93.184.215.14", "*.example.com", "b\u00fccher.de"
            })
    void namesThatAreNone(String name) {
        refused(Hellos.naming(name), "not a host name");
    }

    @Test
    void messagesThatLieAboutTheirLengths() {
        byte[] message = Hellos.message(Hellos.serverName("example.com"));
        byte[] longer = message.clone();
        longer[3]++;
        assertThat(ClientHello.peek(Hellos.record(longer))).isInstanceOf(Peek.More.class);
        byte[] shorter = message.clone();
        shorter[3]--;
        refused(Hellos.record(shorter), "something follows");
        byte[] session = message.clone();
        session[4 + 34] = 33;
        refused(Hellos.record(session), "malformed");
        byte[] huge = message.clone();
        huge[1] = 1;
        refused(Hellos.record(huge), "longer than 16384");
    }

    @Test
    void atMostSixteenKibibytes() {
        int room = ClientHello.MAX_BYTES - Hellos.naming("example.com").length - 4;
        byte[] most = Hellos.naming("example.com", Hellos.extension(21, new byte[room]));
        assertThat(most).hasSize(ClientHello.MAX_BYTES);
        assertThat(ClientHello.peek(most)).isEqualTo(EXAMPLE);
        refused(Hellos.naming("example.com", Hellos.extension(21, new byte[room + 1])), "longer than 16384");
        refused(new byte[] {22, 3, 1, 0x40, 0}, "longer than 16384");
    }
}
