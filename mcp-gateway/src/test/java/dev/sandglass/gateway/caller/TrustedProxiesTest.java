package dev.sandglass.gateway.caller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TrustedProxiesTest {

    private static final InetSocketAddress PROXY = at("10.0.3.7");
    private static final TrustedProxies PROXIES = TrustedProxies.parse(List.of("10.0.3.0/24", "fd00::/64"));

    private static InetSocketAddress at(String address) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), 4711);
    }

    private static String client(InetSocketAddress peer, String... lines) {
        return PROXIES.client(peer, List.of(lines)).getAddress().getHostAddress();
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "192.0.2.1,                        192.0.2.1",
                "\"203.0.113.9, 192.0.2.1\",       192.0.2.1",
                "\"203.0.113.9,192.0.2.1,10.0.3.8\", 192.0.2.1",
                "192.0.2.1:50123,                  192.0.2.1",
                "2001:db8::5,                      2001:db8:0:0:0:0:0:5",
                "[2001:db8::5],                    2001:db8:0:0:0:0:0:5",
                "[2001:db8::5]:50123,              2001:db8:0:0:0:0:0:5",
                "\"192.0.2.1, fd00::9\",           192.0.2.1",
                "\"10.0.3.9, 10.0.3.8\",           10.0.3.9"
            })
    void aTrustedProxyTellsWhoIsConnectedToIt(String header, String expected) {
        assertThat(client(PROXY, header)).isEqualTo(expected);
    }

    @Test
    void linesAreOneList() {
        assertThat(client(PROXY, "203.0.113.9", "192.0.2.1, 10.0.3.8")).isEqualTo("192.0.2.1");
    }

    @Test
    void nobodyElseIsBelieved() {
        assertThat(client(at("10.0.4.7"), "192.0.2.1")).isEqualTo("10.0.4.7");
        assertThat(new TrustedProxies(List.of()).client(PROXY, List.of("192.0.2.1")))
                .isSameAs(PROXY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "unknown",
                "_hidden",
                "example.com",
                "192.0.2.1, ",
                "999.0.0.1",
                "[2001:db8::5",
                "1.2.3.4:x::"
            })
    void whatIsNoAddressEndsTheWayAtTheProxyThatSaidIt(String header) {
        assertThat(client(PROXY, header)).isEqualTo("10.0.3.7");
    }

    @Test
    void withoutTheHeaderItIsThePeer() {
        assertThat(PROXIES.client(PROXY, List.of())).isSameAs(PROXY);
    }

    @Test
    void aVeryLongListIsReadOnlyAsFarAsItIsTrusted() {
        var line = String.join(",", Collections.nCopies(2_000, "10.0.3.1"));

        assertThat(client(PROXY, line)).isEqualTo("10.0.3.1");
        assertThat(client(PROXY, line + ",x")).isEqualTo("10.0.3.7");
    }

    @Test
    void aRangeThatIsNoneIsRefusedWithTheSettingsName() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TrustedProxies.parse(List.of("10.0.0.1/8")))
                .withMessage(
                        "gateway.trusted-proxies (GATEWAY_TRUSTED_PROXIES, the chart's value gateway.trustedProxies):"
                                + " 10.0.0.1/8 has bits beyond its prefix; write 10.0.0.0/8");
    }
}
