package dev.sandglass.api.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The examples that everybody agrees on, against the grammar and the verdicts. */
class EgressVectorsTest {

    record Entry(
            String entry,
            @Nullable String canonical,
            @Nullable String refused) {}

    record Decision(List<String> allowed, Map<String, String> targets) {}

    record Vectors(List<Entry> rules, List<Decision> decisions) {}

    private static final String MALFORMED = "malformed";

    private static Vectors vectors() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(DomainRule.class.getResourceAsStream("egress-vectors.yaml"), "the vectors")) {
            return new KubernetesSerialization()
                    .unmarshal(new String(file.readAllBytes(), StandardCharsets.UTF_8), Vectors.class);
        }
    }

    static List<Entry> entries() throws IOException {
        return vectors().rules();
    }

    static List<Decision> decisions() throws IOException {
        return vectors().decisions();
    }

    @ParameterizedTest
    @MethodSource("entries")
    void entry(Entry vector) {
        if (vector.canonical() == null) {
            assertThat(vector.refused()).isNotNull();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> DomainRule.parse(vector.entry()))
                    .withMessageContaining(vector.refused());
            assertThat(EgressRules.problem(List.of("example.com", vector.entry())))
                    .hasValueSatisfying(problem -> assertThat(problem).startsWith("allowedDomains[1]: "));
        } else {
            DomainRule rule = DomainRule.parse(vector.entry());
            assertThat(rule).hasToString(vector.canonical());
            assertThat(DomainRule.parse(vector.canonical())).isEqualTo(rule);
            assertThat(EgressRules.problem(List.of(vector.entry()))).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("decisions")
    void decision(Decision vector) {
        EgressRules rules = EgressRules.parse(vector.allowed());
        assertThat(vector.targets()).isNotEmpty();
        vector.targets().forEach((target, outcome) -> assertThat(outcome(rules, target))
                .as("%s for %s", target, vector.allowed())
                .isEqualTo(outcome));
    }

    private static String outcome(EgressRules rules, String target) {
        Target asked;
        try {
            asked = Target.parse(target, OptionalInt.empty());
        } catch (IllegalArgumentException malformed) {
            return MALFORMED;
        }
        return switch (rules.decide(asked)) {
            case Verdict.Allowed allowed -> allowed.rule().toString();
            case Verdict.Denied denied -> denied.why().name();
        };
    }

    @Test
    void everyReasonIsShown() throws IOException {
        assertThat(decisions().stream().flatMap(decision -> decision.targets().values().stream()))
                .contains(MALFORMED)
                .contains(Arrays.stream(Verdict.Why.values()).map(Enum::name).toArray(String[]::new));
    }

    @Test
    void boundsOfTheList() {
        List<String> most = Collections.nCopies(EgressRules.MAX_ENTRIES, "example.com");
        assertThat(EgressRules.problem(most)).isEmpty();
        assertThat(EgressRules.problem(Collections.nCopies(EgressRules.MAX_ENTRIES + 1, "example.com")))
                .hasValue("at most 64 domains can be allowed, not 65");
    }

    @Test
    void boundsOfAName() {
        String label = "a".repeat(63);
        String longest = String.join(".", label, label, label, "a".repeat(61));
        assertThat(longest).hasSize(HostName.MAX_LENGTH);
        assertThat(EgressRules.problem(List.of(longest, "*." + longest + ".:65535", longest + ".:1")))
                .isEmpty();
        assertThat(EgressRules.problem(List.of(longest + "a"))).isPresent();
        assertThat(EgressRules.problem(List.of("a" + label + ".com"))).isPresent();
        assertThat(EgressRules.problem(List.of("\u00e4.".repeat(127))))
                .hasValueSatisfying(problem -> assertThat(problem).contains("write it as"));
        assertThat(EgressRules.problem(List.of("\u00e4.".repeat(8_000))))
                .hasValueSatisfying(
                        problem -> assertThat(problem).contains("longer than").hasSizeLessThan(200));
        assertThat(EgressRules.problem(List.of("a".repeat(10_000))))
                .hasValueSatisfying(problem -> assertThat(problem).hasSizeLessThan(200));
    }

    @Test
    void theOpenFormCanBeLeftOut() {
        EgressRules rules = EgressRules.parse(List.of("*", "example.com"));
        assertThat(rules.isOpen()).isTrue();
        assertThat(rules.withoutOpen()).isEqualTo(EgressRules.parse(List.of("example.com")));
        assertThat(outcome(rules.withoutOpen(), "other.example:443")).isEqualTo("NAME_NOT_LISTED");
    }

    @Test
    void rangesThatComeNearTheOpenFormTogetherAreLeftOutTogether() {
        EgressRules halves = EgressRules.parse(List.of("92.0.0.0/9", "92.128.0.0/9", "10.0.0.0/8", "example.com"));
        assertThat(halves.isOpen()).isFalse();
        assertThat(EgressRules.parse(List.of("92.0.0.0/8", "92.0.0.0/8:5432", "2600::/20"))
                        .isOpen())
                .isFalse();

        EgressRules more = EgressRules.parse(List.of("92.0.0.0/8", "93.184.215.14", "example.com"));
        assertThat(more.isOpenTogether()).isTrue();
        assertThat(more.isOpen()).isTrue();
        assertThat(more.withoutOpen()).isEqualTo(EgressRules.parse(List.of("example.com")));
        assertThat(EgressRules.parse(List.of("2600::/20", "2600:1000::/20")).isOpen())
                .isTrue();
        assertThat(EgressRules.parse(List.of("2600::/20", "[2700::1]:443")).isOpen())
                .as("one address of IPv6 is not lost beside the widest range")
                .isTrue();
    }

    @Test
    void aFullListOfTheWidestRangesIsOpen() {
        List<String> widest = IntStream.range(0, EgressRules.MAX_ENTRIES)
                .mapToObj(i -> (128 + i) + ".0.0.0/8")
                .toList();
        List<String> small = IntStream.range(0, EgressRules.MAX_ENTRIES)
                .mapToObj(i -> "92." + 4 * i + ".0.0/14")
                .toList();
        List<String> withoutOne =
                Stream.concat(small.stream().skip(1), Stream.of("93.0.0.0/13")).toList();

        assertThat(EgressRules.parse(widest).withoutOpen()).isEqualTo(EgressRules.NONE);
        assertThat(EgressRules.parse(small).isOpen()).isFalse();
        assertThat(EgressRules.parse(withoutOne).withoutOpen()).isEqualTo(EgressRules.NONE);
    }

    /** An installation with NAT64 opens its prefix, and each IPv4 address has one of IPv6 then. */
    @Test
    void embeddedRangesCountAsWhatTheyEmbed() {
        assertThat(EgressRules.parse(List.of("64:ff9b::5c00:0/105", "92.128.0.0/9", "2600::/20"))
                        .isOpen())
                .isFalse();
        assertThat(EgressRules.parse(List.of("64:ff9b::5c00:0/104", "64:ff9b::5d00:0/104"))
                        .isOpenTogether())
                .isTrue();
        assertThat(EgressRules.parse(List.of("2002:5c00::/24", "93.184.215.14")).isOpenTogether())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "0.0.0.0/0, true",
        "128.0.0.0/1:5432, true",
        "8.0.0.0/7, true",
        "8.0.0.0/8, false",
        "10.0.0.0/7, true",
        "10.0.0.0/8, false",
        "224.0.0.0/4, false",
        "::/0, true",
        "::/2, true",
        "2000::/3, true",
        "2600::/19, true",
        "[2600::/19]:443, true",
        "2600::/20, false",
        "64:ff9b::/96, true",
        "64:ff9b:1::/48, true",
        "2002::/16, true",
        "2002:5d00::/24, false",
        "64:ff9b::/64, true",
        "64:ff9b::/95, true",
        "64:ff9b::/103, true",
        "2001::/24, true",
        "::/8, true",
        "64:ff9b::5d00:0/104, false",
        "fc00::/7, false",
        "example.com, false",
    })
    void rangesThatComeNearTheOpenFormAreLeftOutWithIt(String entry, boolean isOpen) {
        EgressRules rules = EgressRules.parse(List.of(entry));
        assertThat(rules.isOpen()).isEqualTo(isOpen);
        assertThat(rules.withoutOpen()).isEqualTo(isOpen ? EgressRules.NONE : rules);
    }
}
