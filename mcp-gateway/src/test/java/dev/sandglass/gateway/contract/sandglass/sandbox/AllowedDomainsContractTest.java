package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.TestGateway;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code config.allowed_domains} of {@code sandbox_start} (contracts.md O3), and what is said to be allowed. */
class AllowedDomainsContractTest {

    record Entry(
            String entry,
            @Nullable String canonical,
            @Nullable String refused) {}

    record Vectors(List<Entry> rules, List<Object> decisions) {}

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode startWith(Object domains) throws Exception {
        return gateway.call(
                "sandbox_start",
                JsonMapper.shared()
                        .writeValueAsString(Map.of("sandbox", "box", "config", Map.of("allowed_domains", domains))));
    }

    private String refusal(Object domains) throws Exception {
        JsonNode result = startWith(domains);
        assertThat(result.path("isError").asBoolean()).as("%s", domains).isTrue();
        return TestGateway.text(result);
    }

    private static String lastText(JsonNode result) {
        assertThat(result.path("content").size()).isOne();
        String text = TestGateway.text(result);
        assertThat(result.path("structuredContent").path("message").asString()).isEqualTo(text);
        return text.substring(text.lastIndexOf('\n') + 1);
    }

    private static Vectors vectors() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(DomainRule.class.getResourceAsStream("egress-vectors.yaml"), "the vectors")) {
            return new KubernetesSerialization()
                    .unmarshal(new String(file.readAllBytes(), StandardCharsets.UTF_8), Vectors.class);
        }
    }

    /** The same file that the resource's schema and the egress proxy are tested with. */
    @Test
    void theSharedExamplesAreTakenAndRefusedAsEverywhere() throws Exception {
        int refused = 0;
        for (Entry vector : vectors().rules()) {
            List<String> domains = List.of("example.com", vector.entry());
            if (vector.refused() == null) {
                assertThat(startWith(domains).path("isError").asBoolean())
                        .as(vector.entry())
                        .isFalse();
                assertThat(gateway.sandboxes.configs.getLast().allowedDomains()).isEqualTo(domains);
            } else {
                refused++;
                String words = vector.entry().indexOf('\0') >= 0 ? "U+0000" : vector.refused();
                assertThat(refusal(domains))
                        .as(vector.entry())
                        .startsWith("Error: 'config.allowed_domains[1]'")
                        .contains(words);
            }
        }
        assertThat(refused).isGreaterThan(40);
        assertThat(gateway.sandboxes.orders).hasSize(vectors().rules().size() - refused);
    }

    @Test
    void theBoundsAreThoseOfTheResource() throws Exception {
        assertThat(startWith(Collections.nCopies(64, "example.com"))
                        .path("isError")
                        .asBoolean())
                .isFalse();
        assertThat(refusal(Collections.nCopies(65, "example.com")))
                .contains("'config.allowed_domains' must be a list of at most 64 texts");
        assertThat(refusal(List.of("a".repeat(263)))).contains("'config.allowed_domains[0]' must have at most 262");
        assertThat(refusal("a.example b.example")).contains("'config.allowed_domains' must be a list");
        assertThat(refusal(List.of(7))).contains("'config.allowed_domains[0]' must be a text");
    }

    @Test
    void theAnswerSaysWhatMayBeReachedNowAndHowToChangeIt() throws Exception {
        JsonNode result = startWith(List.of("example.com", "*.example.org:8443"));

        assertThat(TestGateway.text(result)).startsWith("Sandbox box started successfully\n");
        assertThat(lastText(result))
                .startsWith("In force now: its code may reach example.com, *.example.org:8443, and no other host.")
                .contains("while it runs", "sandbox_start", "'config.allowed_domains'");
        JsonNode allowed = result.path("structuredContent").path("allowed_domains");
        assertThat(allowed.path(0).asString() + " " + allowed.path(1).asString())
                .isEqualTo("example.com *.example.org:8443");
    }

    @Test
    void anEmptyListTakesTheNetworkAway() throws Exception {
        JsonNode result = startWith(List.of());

        assertThat(gateway.sandboxes.configs.getLast().allowedDomains()).isEmpty();
        assertThat(lastText(result)).isEqualTo("In force now: the sandbox has no network.");
        assertThat(result.path("structuredContent").path("allowed_domains").isArray())
                .isTrue();
    }

    @Test
    void whoDoesNotAskIsToldOnlyOfASandboxThatHasAList() throws Exception {
        JsonNode silent = gateway.call("sandbox_start", "{\"sandbox\":\"box\"}");
        assertThat(silent.path("content").size()).isEqualTo(1);
        assertThat(gateway.sandboxes.configs.getLast().allowedDomains()).isNull();

        gateway.sandboxes.startsAnswer(running(new Reach(
                IntStream.range(0, 20).mapToObj(i -> "d%d.example".formatted(i)).toList(), false, Optional.empty())));
        JsonNode told = gateway.call("sandbox_start", "{\"sandbox\":\"box\"}");

        assertThat(lastText(told))
                .startsWith("As before, its code may reach d0.example, d1.example")
                .contains("d15.example and 4 more, and no other host")
                .doesNotContain("d16.example");
        assertThat(told.path("structuredContent").path("allowed_domains").size())
                .isEqualTo(20);
    }

    @Test
    void whoDoesNotAskIsToldWhatTheInstallationAllows() throws Exception {
        gateway.sandboxes.startsAnswer(
                running(new Reach(List.of("example.com", "*.example.org"), true, Optional.empty())));
        JsonNode told = gateway.call("sandbox_start", "{\"sandbox\":\"box\"}");

        assertThat(gateway.sandboxes.configs.getLast().allowedDomains()).isNull();
        assertThat(lastText(told))
                .startsWith("By the installation's default its code may reach example.com, *.example.org, and no other")
                .endsWith("call sandbox_start with the whole new list in 'config.allowed_domains'.");
        assertThat(told.path("structuredContent").path("allowed_domains").size())
                .isEqualTo(2);
    }

    @Test
    void whatIsNotInForceIsToldInTheOperatorsWords() throws Exception {
        gateway.sandboxes.startsAnswer(running(new Reach(
                List.of("*"),
                false,
                Optional.of("Not all of spec.allowedDomains is in force: this installation does not permit '*'"))));

        JsonNode told = startWith(List.of("*"));

        assertThat(lastText(told))
                .startsWith(
                        "Its list of hosts is *, and no other host may be reached. Not all of spec.allowedDomains is in"
                                + " force: this installation does not permit '*'. To change the list")
                .doesNotContain("In force now");
        assertThat(told.path("structuredContent").path("allowed_domains").isNull())
                .isTrue();
    }

    private static Mono<RunningSandbox> running(Reach reach) {
        SandboxRef ref = new SandboxRef("default", "sandglass-default", "box", "box");
        return Mono.just(new RunningSandbox(
                ref, "uid-box", 1, "127.0.0.1", 5710, List.of(), reach, Restarts.NONE, Optional.empty()));
    }
}
