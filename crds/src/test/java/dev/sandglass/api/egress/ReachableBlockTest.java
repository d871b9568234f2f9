package dev.sandglass.api.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What of a range is let through by address, against the verdict on single addresses. */
class ReachableBlockTest {

    private static DeniedRanges denied(String cluster, String allowances) {
        return new DeniedRanges(ranges(cluster), ranges(allowances));
    }

    private static List<IpRange> ranges(String text) {
        return Arrays.stream(text.split(" ", -1))
                .filter(part -> !part.isEmpty())
                .map(IpRange::parse)
                .toList();
    }

    private static String shown(List<ReachableBlock> blocks) {
        return blocks.stream()
                .map(block -> block.except().isEmpty()
                        ? block.range().toString()
                        : block.range() + " - "
                                + block.except().stream().map(IpRange::toString).collect(Collectors.joining(" - ")))
                .collect(Collectors.joining(" + "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "93.184.215.14 | '' | '' | 93.184.215.14",
                "93.184.0.0/16 | '' | '' | 93.184.0.0/16",
                "10.0.0.5 | '' | '' | ''",
                "10.0.0.0/8 | '' | '' | ''",
                "10.0.0.0/7 | '' | '' | 10.0.0.0/7 - 10.0.0.0/8",
                "100.100.0.0/16 | '' | '' | ''",
                "168.63.0.0/16 | '' | '' | 168.63.0.0/16 - 168.63.129.16",
                "169.254.169.254 | '' | '' | ''",
                "8.8.0.0/16 | 8.8.8.0/24 | '' | 8.8.0.0/16 - 8.8.8.0/24",
                "10.1.2.3 | '' | 10.1.0.0/16 | 10.1.2.3",
                "10.0.0.0/8 | '' | 10.1.0.0/16 | 10.1.0.0/16",
                "10.0.0.0/8 | 10.1.3.0/24 | 10.1.0.0/16 | 10.1.0.0/16 - 10.1.3.0/24",
                "10.0.0.0/8 | 10.1.0.0/16 | 10.0.0.0/8 | 10.0.0.0/8 - 10.1.0.0/16",
                "10.0.0.0/7 | '' | 10.1.0.0/16 | 10.0.0.0/7 - 10.0.0.0/8 + 10.1.0.0/16",
                "2606:2800::/32 | '' | '' | 2606:2800::/32",
                "2001::/16 | '' | '' | 2001::/16 - 2001::/23 - 2001:db8::/32",
                "2001::/32 | '' | '' | ''",
                "fd00::1 | '' | '' | ''",
                "fd00::1 | '' | fd00::/64 | fd00::1",
                "fc00::/7 | '' | fc00::/7 | fc00::/7 - fd00:ec2::254 - fd20:ce::254",
                "4000::/2 | '' | '' | ''",
                "::/0 | '' | '' | 2000::/3 - 2002::/16 - 3fff::/20 - 2001::/23 - 2001:db8::/32",
                "64:ff9b::/96 | '' | 64:ff9b::/96 | ''",
                "2002::/16 | '' | 2002::/16 | ''",
            })
    void whatRemains(String asked, String cluster, String allowances, String blocks) {
        assertThat(shown(denied(cluster, allowances).reachable(IpRange.parse(asked))))
                .isEqualTo(blocks);
    }

    @Test
    void everythingButTheRangesDeniedEverywhere() {
        List<ReachableBlock> blocks = denied("", "").reachable(IpRange.parse("0.0.0.0/0"));

        assertThat(blocks).singleElement().satisfies(block -> {
            assertThat(block.except()).contains(IpRange.parse("10.0.0.0/8"), IpRange.parse("169.254.0.0/16"));
            assertThat(block.except()).doesNotContain(IpRange.parse("169.254.169.254"));
        });
    }

    /** An address is within the blocks if and only if it may be reached by itself. */
    @Test
    void theBlocksAgreeWithTheVerdictOnEachAddress() {
        Random random = new Random(6);
        List<String> parts =
                List.of("9.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.128/25", "11.0.0.0/9");
        for (int round = 0; round < 500; round++) {
            DeniedRanges ranges = new DeniedRanges(pick(parts, random), pick(parts.subList(1, 5), random));
            IpRange asked = IpRange.parse(round % 2 == 0 ? "8.0.0.0/6" : parts.get(random.nextInt(parts.size())));
            List<ReachableBlock> blocks = ranges.reachable(asked);
            for (String text : List.of("9.1.1.1", "10.0.0.1", "10.1.0.1", "10.1.2.1", "10.1.2.129", "11.1.1.1")) {
                IpAddress address = IpAddress.parse(text);
                boolean reached = blocks.stream()
                        .anyMatch(block -> block.range().contains(address)
                                && block.except().stream().noneMatch(except -> except.contains(address)));
                assertThat(reached)
                        .as("%s of %s in %s", text, asked, blocks)
                        .isEqualTo(asked.contains(address)
                                && ranges.denying(address).isEmpty());
            }
        }
    }

    private static List<IpRange> pick(List<String> parts, Random random) {
        return parts.stream()
                .filter(part -> random.nextInt(3) == 0)
                .map(IpRange::parse)
                .toList();
    }
}
