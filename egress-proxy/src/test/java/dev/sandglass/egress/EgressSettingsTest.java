package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.splitdns.SplitDoors;
import dev.sandglass.egress.tunnel.Limits;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings from the environment: the defaults, and every mistake by its name. */
class EgressSettingsTest {

    private static final Map<String, String> LEAST =
            Map.of("EGRESS_NAMESPACES", "a, b", "EGRESS_SECRET_FILE", "/secret");

    private static Map<String, String> with(String name, String value) {
        Map<String, String> all = new HashMap<>(LEAST);
        all.put(name, value);
        return all;
    }

    @Test
    void theDefaults() {
        EgressSettings settings = EgressSettings.of(LEAST);
        assertThat(settings.namespaces()).containsExactlyInAnyOrder("a", "b");
        assertThat(settings.secretFile()).hasToString("/secret");
        assertThat(settings.credentialRequired()).isFalse();
        assertThat(settings.rules().openPermitted()).isFalse();
        assertThat(settings.rules().denied().denying(IpAddress.parse("10.0.0.1")))
                .isPresent();
        assertThat(settings.rules().denied().denying(IpAddress.parse("93.184.215.14")))
                .isEmpty();
        assertThat(settings.rules().defaults()).isEqualTo(DefaultDomains.NONE);
        assertThat(settings.rules().tlsPorts()).isEqualTo(Set.of(443));
        assertThat(settings.limits()).isEqualTo(Limits.DEFAULT);
        assertThat(settings.ports().proxy()).isEqualTo(3128);
        assertThat(settings.ports().probes()).isEqualTo(8081);
        assertThat(settings.ports().denials()).isEqualTo(3129);
        assertThat(settings.splitDns()).isEmpty();
    }

    @Test
    void everythingElse() {
        assertThat(EgressSettings.of(with("EGRESS_IDLE_TIMEOUT", "1h")).limits().idle())
                .isEqualTo(Duration.ofHours(1));
        assertThat(EgressSettings.of(with("EGRESS_MAX_BYTES", "0")).limits().bytes())
                .isZero();
        assertThat(EgressSettings.of(with("EGRESS_MAX_BYTES", "1073741824"))
                        .limits()
                        .bytes())
                .isEqualTo(1L << 30);
        assertThat(EgressSettings.of(with("EGRESS_TLS_PORTS", "443,8443"))
                        .rules()
                        .tlsPorts())
                .isEqualTo(Set.of(443, 8443));
        assertThat(EgressSettings.of(with("EGRESS_CREDENTIAL_REQUIRED", "true")).credentialRequired())
                .isTrue();
        assertThat(EgressSettings.of(with("EGRESS_ALLOWED_RANGES", "10.1.0.0/16"))
                        .rules()
                        .denied()
                        .denying(IpAddress.parse("10.1.2.3")))
                .isEmpty();
        assertThat(EgressSettings.of(with("EGRESS_CLUSTER_RANGES", "93.184.0.0/16"))
                        .rules()
                        .denied()
                        .denying(IpAddress.parse("93.184.215.14")))
                .hasValue("the cluster's own");
    }

    @Test
    void splitDns() {
        Map<String, String> variables = new HashMap<>(LEAST);
        variables.put("EGRESS_SPLIT_DNS", "true");
        variables.put("EGRESS_SERVICE_ADDRESS", "10.96.7.7");
        SplitDoors.Settings settings = EgressSettings.of(variables).splitDns().orElseThrow();
        assertThat(settings.dns().getPort()).isEqualTo(5353);
        assertThat(settings.plain().getPort()).isEqualTo(8080);
        assertThat(settings.tls().getPort()).isEqualTo(8443);
        assertThat(settings.service()).isEqualTo(IpAddress.parse("10.96.7.7"));
        assertThat(settings.plainTarget()).isEqualTo(80);
        assertThat(settings.tlsTarget()).isEqualTo(443);
        assertThat(settings.queries()).isEqualTo(100);

        variables.put("EGRESS_SERVICE_ADDRESS", "egress");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(variables))
                .withMessageContaining("EGRESS_SERVICE_ADDRESS");
        variables.put("EGRESS_SERVICE_ADDRESS", "");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(variables))
                .withMessage("EGRESS_SERVICE_ADDRESS is not set");
        variables.put("EGRESS_CREDENTIAL_REQUIRED", "true");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(variables))
                .withMessageContaining("cannot both be true");
    }

    @Test
    void theInstallationsListHasAtMost64EntriesAndEverythingOnlyIfPermitted() {
        String most = String.join(",", Collections.nCopies(64, "example.com"));
        assertThat(EgressSettings.of(with("EGRESS_DEFAULT_DOMAINS", most))
                        .rules()
                        .defaults()
                        .entries())
                .hasSize(64);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(with("EGRESS_DEFAULT_DOMAINS", most + ",example.com")))
                .withMessage("EGRESS_DEFAULT_DOMAINS (the chart's value egressProxy.defaultDomains): at most 64 domains"
                        + " can be allowed, not 65");

        Map<String, String> open = with("EGRESS_DEFAULT_DOMAINS", "*");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(open))
                .withMessageContaining("'*' counts only with egressProxy.permitOpen");
        open.put("EGRESS_OPEN_PERMITTED", "true");
        assertThat(EgressSettings.of(open).rules().defaults().entries()).containsExactly("*");

        Map<String, String> closed = with("EGRESS_DEFAULT_DOMAINS", "10.1.2.3:5432");
        closed.put("EGRESS_ALLOWED_RANGES", "10.1.0.0/16");
        assertThat(EgressSettings.of(closed).rules().defaults().entries()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "EGRESS_NAMESPACES, '', is not set",
        "EGRESS_SECRET_FILE, ' ', is not set",
        "EGRESS_CREDENTIAL_REQUIRED, yes, must be true or false",
        "EGRESS_OPEN_PERMITTED, TRUE, must be true or false",
        "EGRESS_CLUSTER_RANGES, 10.0.0.1/8, write 10.0.0.0/8",
        "EGRESS_ALLOWED_RANGES, 0.0.0.0/0, does not lie within any denied range",
        "EGRESS_DEFAULT_DOMAINS, https://example.com/, is a URL",
        "EGRESS_DEFAULT_DOMAINS, *.co.uk, would allow names of everybody",
        "EGRESS_DEFAULT_DOMAINS, 10.1.2.3:5432, is not public (private)",
        "EGRESS_TLS_PORTS, 0, must be from 1 to 65535",
        "EGRESS_PORT, 65536, must be from 1 to 65535",
        "EGRESS_DENIALS_PORT, 0, must be from 1 to 65535",
        "EGRESS_SPLIT_DNS, on, must be true or false",
        "EGRESS_IDLE_TIMEOUT, 5, is not a duration",
        "EGRESS_IDLE_TIMEOUT, 0s, must be from 1s to 24h",
        "EGRESS_IDLE_TIMEOUT, 25h, must be from 1s to 24h",
        "EGRESS_MAX_TUNNELS, 0, must be from 1 to 100000",
        "EGRESS_MAX_TUNNELS, many, must be a whole number",
        "EGRESS_MAX_BYTES, -1, must be from 0",
        "EGRESS_MAX_BACKLOG, 0, must be from 1",
    })
    void mistakes(String name, String value, String part) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EgressSettings.of(with(name, value)))
                .withMessageContaining(name)
                .withMessageContaining(part);
    }
}
