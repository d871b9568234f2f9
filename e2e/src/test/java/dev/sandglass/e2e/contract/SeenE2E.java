package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** What an administrator sees without asking the product: numbers, Events. */
@Isolated("it compares metrics")
class SeenE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Installation installation = Installation.current();
    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static List<Pod> podsOf(String component) {
        return TENANT.kubernetes()
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabels(Map.of("app.kubernetes.io/part-of", "sandglass", "app.kubernetes.io/component", component))
                .list()
                .getItems();
    }

    /** What a pod tells Prometheus, read through the API server. */
    private static String numbersOf(Pod pod, String path) {
        return TENANT.kubernetes()
                .raw("/api/v1/namespaces/" + Installation.NAMESPACE + "/pods/"
                        + pod.getMetadata().getName() + ":8081/proxy" + path);
    }

    /** The sum over the component's pods of a sample, whose name and labels are matched as text. */
    private static double sum(String component, String path, String sample) {
        Pattern line = Pattern.compile("^" + Pattern.quote(sample) + "\\S* (\\S+)$", Pattern.MULTILINE);
        return podsOf(component).stream()
                .flatMap(pod -> line.matcher(numbersOf(pod, path)).results())
                .mapToDouble(found -> Double.parseDouble(found.group(1)))
                .sum();
    }

    private static double starts(String phase) {
        return sum("operator", "/metrics", "sandglass_start_seconds_count{phase=\"" + phase + "\",start=\"cold\"}");
    }

    @Test
    void aStartIsMeasuredByTheOneOperatorThatLeads() {
        assumeTrue(installation.ownNode().isPresent(), "elsewhere the API server may not reach pods");
        double before = starts("total");

        SANDBOXES.start();

        await().atMost(Duration.ofSeconds(30)).until(() -> starts("total") > before);
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            assertThat(starts("pod")).isPositive();
            assertThat(podsOf("operator").stream()
                            .map(pod -> numbersOf(pod, "/metrics"))
                            .filter(numbers -> numbers.contains("sandglass_sandboxes{")))
                    .as("who does not lead has counted nothing")
                    .singleElement()
                    .asString()
                    .containsPattern("sandglass_sandboxes\\{ready=\"true\",reason=\"Running\","
                            + "sandbox_namespace=\"(sandglass-default|\\*)\"\\} [1-9]");
        });
    }

    @Test
    void aToolCallIsMeasured() {
        assumeTrue(installation.ownNode().isPresent(), "elsewhere the API server may not reach pods");
        String sandbox = SANDBOXES.start();
        String sample =
                "sandglass_tool_calls_seconds_count{contract=\"sandglass\",outcome=\"ok\",tool=\"sandbox_run_code\"}";
        double before = sum("mcp-gateway", "/actuator/prometheus", sample);

        agent.python(sandbox, "1 + 1");

        // The metric is written beside the answer.
        await().atMost(Duration.ofSeconds(30)).until(() -> sum("mcp-gateway", "/actuator/prometheus", sample) > before);
    }

    /** But for those that say that the node is still full of what a class before this one has left. */
    private static List<Event> eventsOf(Sandbox sandbox) {
        return TENANT.kubernetes().events().v1().events().inNamespace(Tenant.NAMESPACE).list().getItems().stream()
                .filter(event -> event.getRegarding() != null
                        && sandbox.getMetadata()
                                .getUid()
                                .equals(event.getRegarding().getUid()))
                .filter(event -> !Reason.UNSCHEDULABLE.value().equals(event.getReason()))
                .toList();
    }

    @Test
    void aStopAndAStartAreToldAsEventsAndTheFirstStartIsNot() {
        String name = SANDBOXES.start();
        Sandbox sandbox = TENANT.sandbox(name);
        assertThat(eventsOf(sandbox)).isEmpty();

        agent.call("sandbox_stop", Map.of("sandbox", name));
        await("the Event of the stop").atMost(Duration.ofSeconds(60)).until(() -> reasons(sandbox)
                .contains("Requested"));
        SANDBOXES.bringUp(name);

        await("the Event of the start").atMost(Duration.ofSeconds(60)).until(() -> reasons(sandbox)
                .equals(List.of("Requested", "Resumed")));
    }

    private static List<String> reasons(Sandbox sandbox) {
        return eventsOf(sandbox).stream().map(Event::getReason).sorted().toList();
    }
}
