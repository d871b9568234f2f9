package dev.sandglass.egress.name;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.IpAddress;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of dialling for names with addresses of both families. */
class DialOrderTest {

    private static List<IpAddress> addresses(String words) {
        return Arrays.stream(words.split(" ", -1)).map(IpAddress::parse).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "1.0.0.1, 1.0.0.1",
        "2600::1, 2600::1",
        "1.0.0.1 2600::1, 2600::1 1.0.0.1",
        "2600::1 1.0.0.1, 2600::1 1.0.0.1",
        "1.0.0.2 1.0.0.1 2600::2 2600::1, 2600::2 1.0.0.2 2600::1 1.0.0.1",
        "1.0.0.1 1.0.0.2 1.0.0.3 2600::1, 2600::1 1.0.0.1 1.0.0.2 1.0.0.3",
        "1.0.0.1 1.0.0.1 1.0.0.2, 1.0.0.1 1.0.0.2",
    })
    void byTurns(String given, String expected) {
        assertThat(DialOrder.of(addresses(given))).isEqualTo(addresses(expected));
    }

    @Test
    void atMostEightAndBothFamiliesAmongThem() {
        List<IpAddress> many = IntStream.range(0, 40)
                .mapToObj(i -> IpAddress.parse(i < 20 ? "1.0.0." + i : "2600::" + i))
                .toList();
        assertThat(DialOrder.of(many))
                .hasSize(DialOrder.MOST)
                .filteredOn(IpAddress::isSix)
                .hasSize(4);
        assertThat(DialOrder.of(List.of())).isEmpty();
    }
}
