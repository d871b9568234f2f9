package dev.sandglass.api.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SandboxNameTest {

    private static final String SIXTY_FOUR = "a".repeat(64);

    @ParameterizedTest
    @ValueSource(strings = {"a", "0", "demo", "my-sandbox", "x-0123456789", "9-lives", "a-x012345678", "a--b"})
    void aDnsLabelIsTheResourcesName(String given) {
        assertThat(new SandboxName(given).resourceName()).isEqualTo(given);
    }

    /** The last ten digits are those of {@code printf %s NAME | sha256sum}. */
    @ParameterizedTest
    @CsvSource({
        "Demo, demo-x8a2cc0673b",
        "my_sandbox, my-sandbox-xb3e2045015",
        "trailing-, trailing-xb520d72a4f",
        "demo-x0123456789, demo-x0123456789-x4c95897cc6",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-x1b58d00f5b",
    })
    void anyOtherNameIsMappedToASlugAndADigest(String given, String mapped) {
        assertThat(new SandboxName(given).resourceName()).isEqualTo(mapped);
    }

    @Test
    void everyMappedNameIsADnsLabelAndTellsNamesApart() {
        Stream<String> names = Stream.of(
                "A", "a_", "a-", "Aa", "aA", "a__", "A".repeat(63), "a" + "_".repeat(62), "_".repeat(0) + "Z-_-");
        assertThat(names.map(name -> new SandboxName(name).resourceName()).toList())
                .allMatch(name -> name.matches("[a-z0-9]([a-z0-9-]*[a-z0-9])?") && name.length() <= 63)
                .doesNotHaveDuplicates();
    }

    @Test
    void nobodyCanWriteTheNameThatAnotherIsMappedTo() {
        String mapped = new SandboxName("Demo").resourceName();
        assertThat(new SandboxName(mapped).resourceName()).isNotEqualTo(mapped);
    }

    @Test
    void violationsAreToldInTheContractsWords() {
        assertThatThrownBy(() -> new SandboxName("")).hasMessage("Sandbox name cannot be empty");
        assertThatThrownBy(() -> new SandboxName(SIXTY_FOUR)).hasMessage("Sandbox name cannot exceed 63 characters");
        for (String wrong : new String[] {"a.b", "a b", "ä", "a/b", "a\n", "-ä", "a\0"}) {
            assertThatThrownBy(() -> new SandboxName(wrong))
                    .hasMessage("Sandbox name can only contain alphanumeric characters, hyphens, or underscores");
        }
        for (String wrong : new String[] {"-a", "_a", "-", "_"}) {
            assertThatThrownBy(() -> new SandboxName(wrong))
                    .isInstanceOf(InvalidNameException.class)
                    .hasMessage("Sandbox name must start with an alphanumeric character");
        }
    }

    @Test
    void tenantsHaveTheSameGrammarUnderTheirOwnName() {
        assertThat(new TenantName("Team_1").given()).isEqualTo("Team_1");
        assertThatThrownBy(() -> new TenantName("")).hasMessage("Namespace cannot be empty");
        assertThatThrownBy(() -> new TenantName(SIXTY_FOUR)).hasMessage("Namespace cannot exceed 63 characters");
        assertThatThrownBy(() -> new TenantName("a.b"))
                .hasMessage("Namespace can only contain alphanumeric characters, hyphens, or underscores");
        assertThatThrownBy(() -> new TenantName("-a"))
                .hasMessage("Namespace must start with an alphanumeric character");
        assertThatThrownBy(() -> new TenantName("*"))
                .hasMessage("Wildcard namespace (*) is not valid for sandbox creation");
    }
}
