package dev.sandglass.gateway.contract.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.toolserver.Registration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Bounds that requests in tests are too small for. */
class ServerPlacementTest {

    private static Arguments own(String more) {
        return Arguments.of((ObjectNode) JsonMapper.shared().readTree("{\"placement\":\"own\"" + more + "}"));
    }

    private static Registration.Command command(int characters) {
        return new Registration.Command(
                "web", "x", List.of("x".repeat(32 * 1024), "x".repeat(characters)), Map.of(), "", Registration.TIMEOUT);
    }

    @Test
    void argumentsHaveSixtyFourThousandCharactersAtMost() {
        assertThat(ServerPlacement.read(own(""), command(32 * 1024))).isEqualTo(ServerPlacement.OWN);
        assertThatThrownBy(() -> ServerPlacement.read(own(""), command(32 * 1024 + 1)))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'args' has 65537 characters; at most 65536 are taken");
    }

    @Test
    void theRegistriesHaveRoomBesideTheHosts() {
        String host = ",\"allowed_domains\":[\"%s\"]";
        String most = String.join("\",\"", Collections.nCopies(47, "a.example.com"));

        assertThat(ServerPlacement.domains(own(host.formatted(most))).orElseThrow())
                .hasSize(47);
        assertThatThrownBy(() -> ServerPlacement.domains(own(host.formatted(most + "\",\"b.example.com"))))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageContaining("'allowed_domains'");
        assertThat(ServerPlacement.domains(own(""))).isEmpty();
    }
}
