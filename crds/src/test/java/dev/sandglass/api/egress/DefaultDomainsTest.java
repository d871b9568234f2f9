package dev.sandglass.api.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The installation's list, as its three readers get it. */
class DefaultDomainsTest {

    private static final DeniedRanges USUAL = new DeniedRanges(List.of(), List.of());

    private static String names(int number) {
        return IntStream.range(0, number).mapToObj(i -> "d" + i + ".example").collect(Collectors.joining(","));
    }

    @Test
    void entriesStandBetweenCommasAndStayAsTheyWereWritten() {
        DefaultDomains read = DefaultDomains.parse(" Example.com, *.example.org:8443 ,[2606:2800:21::1]:5432,", false);

        assertThat(read.entries()).containsExactly("Example.com", "*.example.org:8443", "[2606:2800:21::1]:5432");
        assertThat(read.rules()).isEqualTo(EgressRules.parse(read.entries()));
    }

    @Test
    void nothingIsNoNetwork() {
        assertThat(DefaultDomains.parse("", false)).isEqualTo(DefaultDomains.NONE);
        assertThat(DefaultDomains.NONE.rules()).isEqualTo(EgressRules.NONE);
    }

    @Test
    void aSandboxsOwnListCountsAloneEvenIfItIsEmpty() {
        DefaultDomains defaults = new DefaultDomains(List.of("example.com"));

        assertThat(defaults.unlessGiven(null)).containsExactly("example.com");
        assertThat(defaults.unlessGiven(List.of())).isEmpty();
        assertThat(defaults.unlessGiven(List.of("example.org"))).containsExactly("example.org");
    }

    @Test
    void itHasAsManyEntriesAsTheListOfASandbox() {
        assertThat(DefaultDomains.parse(names(64), false).entries()).hasSize(64);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DefaultDomains.parse(names(65), false))
                .withMessage("at most 64 domains can be allowed, not 65");
    }

    @Test
    void everythingIsAnEntryOnlyWhereItIsPermitted() {
        assertThat(DefaultDomains.parse("example.com,*", true).rules().isOpen()).isTrue();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DefaultDomains.parse("example.com,*", false))
                .withMessage("'*' counts only with egressProxy.permitOpen");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DefaultDomains.parse("8.0.0.0/8,0.0.0.0/1:443", false))
                .withMessage("'0.0.0.0/1:443' counts only with egressProxy.permitOpen");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "https://example.com | 'https://example.com' is a URL",
                "*.co.uk | '*.co.uk' would allow names of everybody",
                "a b | 'a b'",
                "10.1.2.3:5432 | '10.1.2.3:5432' is not public (private), and egressProxy.allowedRanges does not open it",
                "169.254.169.254 | '169.254.169.254' is not public (link-local)",
            })
    void whatCannotBeInForceIsNamed(String entry, String words) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DefaultDomains.parse("example.com," + entry, true, USUAL))
                .withMessageStartingWith(words);
    }

    @Test
    void whatTheInstallationOpensMayBeInIt() {
        DeniedRanges opened = new DeniedRanges(List.of(), List.of(IpRange.parse("10.1.0.0/16")));

        assertThat(DefaultDomains.parse("10.1.2.3:5432,8.0.0.0/8", false, opened)
                        .entries())
                .hasSize(2);
    }
}
