package dev.sandglass.egress.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.Target;
import dev.sandglass.api.egress.Verdict;
import dev.sandglass.egress.client.BasicCredential;
import dev.sandglass.egress.testing.HttpMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules and credentials, whoever wrote them: refused in words, or meant in one way only. */
class RuleFuzzTest {

    @Test
    void rules() throws IOException {
        Fuzz.attack(
                HttpMutator::new,
                "rules",
                Stream.of(
                                List.of("example.com", "example.com:443"),
                                List.of("*.example.com", "a.b.example.com:80"),
                                List.of("example.com:8080", "example.com:8080"),
                                List.of("10.0.0.0/8:5432", "10.1.2.3:5432"),
                                List.of("[2606:2800::]/32", "[2606:2800::1]:443"),
                                List.of("*", "example.com:1"))
                        .map(pair -> pair.stream()
                                .map(text -> text.getBytes(StandardCharsets.ISO_8859_1))
                                .toList())
                        .toList(),
                RuleFuzzTest::examineRule);
    }

    @Test
    void credentials() throws IOException {
        Fuzz.attack(
                HttpMutator::new,
                "credentials",
                List.of(
                        List.of("Basic dWlkOnBhc3N3b3Jk".getBytes(StandardCharsets.ISO_8859_1)),
                        List.of("basic  Og==".getBytes(StandardCharsets.ISO_8859_1))),
                message -> BasicCredential.parse(text(message.getFirst())).ifPresent(credential -> {
                    assertThat(credential.user()).doesNotContain(":");
                    assertThat(credential).hasToString("BasicCredential[hidden]");
                }));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void examineRule(List<byte[]> message) {
        List<String> list = List.of(text(message.getFirst()));
        EgressRules rules;
        Target target;
        try {
            rules = EgressRules.parse(list);
            target = Target.parse(text(message.getLast()), OptionalInt.empty());
        } catch (IllegalArgumentException refused) {
            assertThat(refused.getMessage()).isNotEmpty().hasSizeLessThan(600);
            return;
        }
        assertThat(EgressRules.problem(list)).isEmpty();
        String canonical = rules.rules().getFirst().toString();
        assertThat(EgressRules.parse(List.of(canonical))).isEqualTo(rules);
        boolean allowed = rules.decide(target) instanceof Verdict.Allowed;
        switch (rules.rules().getFirst()) {
            case DomainRule.Exact _, DomainRule.Wildcard _ ->
                assertThat(allowed).isEqualTo(target.host() instanceof Host.Name && allows(canonical, target));
            case DomainRule.Addresses _ ->
                assertThat(allowed && target.host() instanceof Host.Name).isFalse();
            case DomainRule.Open _ -> {}
        }
    }

    /** The same by the letters of the canonical forms alone. */
    private static boolean allows(String rule, Target target) {
        String[] parts = rule.split(":", -1);
        boolean port = parts.length > 1
                ? Integer.parseInt(parts[1]) == target.port()
                : target.port() == 80 || target.port() == 443;
        String host = target.host().toString();
        return port && (parts[0].startsWith("*.") ? host.endsWith(parts[0].substring(1)) : host.equals(parts[0]));
    }
}
