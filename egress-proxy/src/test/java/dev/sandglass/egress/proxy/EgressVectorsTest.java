package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.Verdict;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The examples that everybody agrees on, asked of a proxy. What the rules let through fails one step later here: the names
 * lead nowhere, and no address may be dialled.
 */
class EgressVectorsTest {

    record Vectors(List<Map<String, String>> rules, List<Decision> decisions) {}

    record Decision(List<String> allowed, Map<String, String> targets) {}

    static List<Decision> decisions() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(DomainRule.class.getResourceAsStream("egress-vectors.yaml"), "the vectors")) {
            return new KubernetesSerialization()
                    .unmarshal(new String(file.readAllBytes(), StandardCharsets.UTF_8), Vectors.class)
                    .decisions();
        }
    }

    @ParameterizedTest
    @MethodSource("decisions")
    void decision(Decision vector) throws Exception {
        assertThat(vector.targets()).isNotEmpty();
        for (Map.Entry<String, String> target : vector.targets().entrySet()) {
            try (Stage stage = Stage.thatDialsNobody()) {
                stage.clients.put(SANDBOX, "one", vector.allowed().toArray(String[]::new));
                String bytes =
                        new String(target.getKey().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);

                String answer = stage.refusal(SANDBOX, bytes);

                assertThat(answer)
                        .as("%s for %s", target, vector.allowed())
                        .containsPattern(expected(target.getValue()));
                boolean lookedUp = answer.contains("X-Proxy-Error: lookup-failed");
                assertThat(stage.names.questions().isEmpty()).isEqualTo(!lookedUp);
            }
        }
    }

    private static Pattern expected(String outcome) {
        if (outcome.equals("malformed")) {
            return Pattern.compile("X-Proxy-Error: malformed");
        }
        return Stream.of(Verdict.Why.values())
                .filter(why -> why.name().equals(outcome))
                .map(why -> Pattern.compile(Pattern.quote(why.sentence())))
                .findFirst()
                .orElseGet(() -> Pattern.compile("X-Proxy-Error: (lookup-failed|address-denied)"));
    }
}
