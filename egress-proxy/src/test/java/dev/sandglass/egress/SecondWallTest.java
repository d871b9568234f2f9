package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The chart's NetworkPolicy of the egress proxy leaves out exactly what the proxy itself denies. */
class SecondWallTest {

    /** All that the policy opens of IPv6 at all. */
    private static final IpRange GLOBAL_UNICAST = IpRange.parse("2000::/3");

    private static List<String> inTheChart(String file) throws IOException {
        return Files.readAllLines(Path.of("../helm/sandglass/files/egress", file));
    }

    /** The denied ranges of that kind, without those that lie within another one. */
    private static List<String> denied(Predicate<IpRange> kind) {
        List<IpRange> ranges = DeniedRanges.everywhere().stream()
                .map(DeniedRanges.Named::range)
                .filter(kind)
                .toList();
        return ranges.stream()
                .filter(range -> ranges.stream().noneMatch(other -> !other.equals(range) && other.contains(range)))
                .map(IpRange::toString)
                .map(text -> text.contains("/") ? text : text + "/32")
                .toList();
    }

    @Test
    void everyDeniedRangeOfIpv4IsAnException() throws IOException {
        assertThat(inTheChart("private-ipv4.txt")).containsExactlyInAnyOrderElementsOf(denied(range -> !range.first()
                .isSix()));
    }

    @Test
    void everyDeniedRangeOfGlobalIpv6IsAnException() throws IOException {
        assertThat(inTheChart("private-ipv6.txt"))
                .containsExactlyInAnyOrderElementsOf(denied(GLOBAL_UNICAST::contains));
    }
}
