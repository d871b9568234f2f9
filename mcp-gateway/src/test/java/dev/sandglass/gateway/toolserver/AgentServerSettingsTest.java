package dev.sandglass.gateway.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.sandglass.gateway.toolserver.AgentServerSettings.Permitted;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What agents may register in pods of their own, and what that may reach. */
class AgentServerSettingsTest {

    private static final Registration COMMAND =
            new Registration.Command("web", "npx", List.of(), Map.of(), "", Registration.TIMEOUT);
    private static final Registration URL =
            new Registration.Url("web", "https://a.b", Map.of(), Registration.Transport.SSE, Registration.TIMEOUT);

    @Test
    void theSettingBoundsWhatIsPermitted() {
        var none = new AgentServerSettings(Permitted.NONE, List.of());
        var http = new AgentServerSettings(Permitted.HTTP, List.of());
        var all = new AgentServerSettings(Permitted.ALL, List.of());

        assertThat(none.permits(URL)).isFalse();
        assertThat(none.permits(COMMAND)).isFalse();
        assertThat(http.permits(URL)).isTrue();
        assertThat(http.permits(COMMAND)).isFalse();
        assertThat(all.permits(URL)).isTrue();
        assertThat(all.permits(COMMAND)).isTrue();
    }

    @Test
    void withoutRegistriesTheListIsAsGiven() {
        var settings = new AgentServerSettings(Permitted.ALL, List.of());

        assertThat(settings.domains(COMMAND, null, List.of("usual"))).isNull();
        assertThat(settings.domains(COMMAND, List.of(), List.of("usual"))).isEmpty();
    }

    @Test
    void registriesComeBesideTheListThatHolds() {
        var settings = new AgentServerSettings(Permitted.ALL, List.of("r.example.com"));

        assertThat(settings.domains(COMMAND, null, List.of("usual"))).containsExactly("usual", "r.example.com");
        assertThat(settings.domains(COMMAND, List.of(), List.of("usual"))).containsExactly("r.example.com");
        assertThat(settings.domains(URL, null, List.of("usual"))).isNull();
    }

    @Test
    void registriesAreHostsAndSixteenAtMost() {
        List<String> most =
                IntStream.range(0, 16).mapToObj("r%d.example.com"::formatted).toList();
        assertThat(new AgentServerSettings(Permitted.ALL, most).packageRegistries())
                .hasSize(16);

        List<String> more =
                IntStream.range(0, 17).mapToObj("r%d.example.com"::formatted).toList();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AgentServerSettings(Permitted.ALL, more))
                .withMessageContaining("mcp.packageRegistries")
                .withMessageContaining("at most 16");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AgentServerSettings(Permitted.ALL, List.of("https://r.example.com")))
                .withMessageContaining("mcp.packageRegistries");
    }
}
