package dev.sandglass.api.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What no sandbox reaches, at both ends of every range and right beside it. */
class DeniedRangesTest {

    private static final DeniedRanges EVERYWHERE = new DeniedRanges(List.of(), List.of());

    @ParameterizedTest
    @CsvSource({
        "this network, 0.0.0.0, 0.255.255.255, 1.0.0.0",
        "private, 10.0.0.0, 10.255.255.255, 11.0.0.0",
        "carrier-grade NAT, 100.64.0.0, 100.127.255.255, 100.128.0.0",
        "loopback, 127.0.0.0, 127.255.255.255, 128.0.0.0",
        "a cloud's metadata service, 168.63.129.16, 168.63.129.16, 168.63.129.17",
        "link-local, 169.254.0.0, 169.254.255.255, 169.255.0.0",
        "private, 172.16.0.0, 172.31.255.255, 172.32.0.0",
        "reserved, 192.0.0.0, 192.0.0.255, 192.0.1.0",
        "documentation, 192.0.2.0, 192.0.2.255, 192.0.3.0",
        "6to4 relays, 192.88.99.0, 192.88.99.255, 192.88.100.0",
        "private, 192.168.0.0, 192.168.255.255, 192.169.0.0",
        "benchmarks, 198.18.0.0, 198.19.255.255, 198.20.0.0",
        "documentation, 198.51.100.0, 198.51.100.255, 198.51.101.0",
        "documentation, 203.0.113.0, 203.0.113.255, 203.0.114.0",
        "multicast, 224.0.0.0, 239.255.255.255, 223.255.255.255",
        "reserved, 240.0.0.0, 255.255.255.255, 223.0.0.0",
        "unspecified, ::, ::, 2606:2800::1",
        "loopback, ::1, ::1, 2606:2800::1",
        "IPv4-compatible, ::2, ::127.0.0.1, 2606:2800::1",
        "NAT64, 64:ff9b::, 64:ff9b::ffff:ffff, 2606:2800::1",
        "NAT64, 64:ff9b:1::, 64:ff9b:1:ffff:ffff:ffff:ffff:ffff, 2606:2800::1",
        "discarded, 100::, 100::ffff:ffff:ffff:ffff, 2606:2800::1",
        "Teredo, 2001::, 2001:0:ffff:ffff:ffff:ffff:ffff:ffff, 2001:200::",
        "reserved, 2001:1::, 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff, 2001:200::",
        "documentation, 2001:db8::, 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff, 2001:db9::",
        "6to4, 2002::, 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2003::",
        "documentation, 3fff::, 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff, 3fff:1000::",
        "private, fc00::, fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2606:2800::1",
        "link-local, fe80::, febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2606:2800::1",
        "site-local, fec0::, feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2606:2800::1",
        "multicast, ff00::, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2606:2800::1",
        "not global unicast, 4000::, fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 2000::",
        "not global unicast, 5f00::, 200::, 3ffe::",
    })
    void deniedEverywhere(String name, String first, String last, String beside) throws UnknownHostException {
        assertThat(EVERYWHERE.denying(address(first))).hasValue(name);
        assertThat(EVERYWHERE.denying(address(last))).hasValue(name);
        assertThat(EVERYWHERE.denying(address(beside))).isEmpty();
    }

    /** By the platform, whose parser reads the spellings that ours refuses. */
    private static IpAddress address(String text) throws UnknownHostException {
        return IpAddress.of(InetAddress.getByName(text));
    }

    @Test
    void anAddressThatWrapsAnIpv4AddressIsThatAddress() throws UnknownHostException {
        byte[] mapped = new byte[16];
        Arrays.fill(mapped, 10, 12, (byte) 0xff);
        mapped[12] = (byte) 169;
        mapped[13] = (byte) 254;
        mapped[14] = (byte) 169;
        mapped[15] = (byte) 254;
        assertThat(IpAddress.of(InetAddress.getByAddress(mapped))).hasToString("169.254.169.254");
    }

    @ParameterizedTest
    @CsvSource({
        "64:ff9b::/96, 64:ff9b::a00:1, '64:ff9b::a00:1'",
        "64:ff9b:1::/48, 64:ff9b:1::a9fe:a9fe, '64:ff9b:1::a9fe:a9fe'",
        "2002::/16, 2002:a00:1::1, '2002:a00:1::1'",
        "2001::/32, 2001:0:a00:1::1, '2001:0:a00:1::1'",
        "2001::/32, 2001:0:808:808::f5ff:fffe, '2001:0:808:808::f5ff:fffe'",
        "::/96, ::a00:1, '::a00:1'",
    })
    void whatIsEmbeddedIsCheckedEvenIfTheFormIsAllowed(String allowance, String address, String shown) {
        // 2001::/23 holds Teredo too and has to be lifted by the same allowance.
        DeniedRanges ranges = new DeniedRanges(List.of(), List.of(IpRange.parse(allowance)));
        assertThat(ranges.denying(IpAddress.parse(address)))
                .hasValueSatisfying(name -> assertThat(name).endsWith(", within " + shown));
    }

    @Test
    void whatIsPublicAndEmbeddedMayBeAllowed() {
        DeniedRanges ranges = new DeniedRanges(List.of(), List.of(IpRange.parse("64:ff9b::/96")));
        assertThat(ranges.denying(IpAddress.parse("64:ff9b::808:808"))).isEmpty();
    }

    @Test
    void anAllowanceLiftsWhatItLiesIn() {
        DeniedRanges ranges = new DeniedRanges(
                List.of(IpRange.parse("10.244.0.0/16"), IpRange.parse("93.184.215.0/24")),
                List.of(IpRange.parse("10.0.0.0/8"), IpRange.parse("169.254.0.0/16"), IpRange.parse("fd00::/8")));
        assertThat(ranges.denying(IpAddress.parse("10.1.2.3"))).isEmpty();
        assertThat(ranges.denying(IpAddress.parse("169.254.1.1"))).isEmpty();
        assertThat(ranges.denying(IpAddress.parse("fd12::1"))).isEmpty();
        assertThat(ranges.denying(IpAddress.parse("10.244.7.7"))).hasValue("the cluster's own");
        assertThat(ranges.denying(IpAddress.parse("93.184.215.14"))).hasValue("the cluster's own");
        assertThat(ranges.denying(IpAddress.parse("169.254.169.254"))).hasValue("a cloud's metadata service");
        assertThat(ranges.denying(IpAddress.parse("fd00:ec2::254"))).hasValue("a cloud's metadata service");
        assertThat(ranges.denying(IpAddress.parse("192.168.0.1"))).hasValue("private");
    }

    @Test
    void aNamedPartOfTheClusterMayBeAllowed() {
        DeniedRanges ranges =
                new DeniedRanges(List.of(IpRange.parse("10.244.0.0/16")), List.of(IpRange.parse("10.244.7.7")));
        assertThat(ranges.denying(IpAddress.parse("10.244.7.7"))).isEmpty();
        assertThat(ranges.denying(IpAddress.parse("10.244.7.8"))).isPresent();
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0/0", "8.0.0.0/6", "::/0", "8.8.8.8", "2606:2800::/32"})
    void anAllowanceThatWouldLiftNothingIsAMistake(String allowance) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DeniedRanges(List.of(), List.of(IpRange.parse(allowance))))
                .withMessageContaining(allowance)
                .withMessageContaining("does not lie within any denied range");
    }
}
