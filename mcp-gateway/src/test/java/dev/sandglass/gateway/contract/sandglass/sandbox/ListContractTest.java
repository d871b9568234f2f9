package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** {@code sandbox_list} finds what ran by the name of its sandbox. */
class ListContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private void ran(String number, String state, String kind) {
        gateway.supervisor.executions.add(
                "{\"execution_id\":\"%s\",\"state\":\"%s\",\"kind\":\"%s\"}".formatted(number, state, kind));
    }

    private JsonNode listed(String arguments) throws Exception {
        return gateway.call("sandbox_list", arguments)
                .path("structuredContent")
                .path("sandboxes")
                .path(0);
    }

    private static List<String> ids(JsonNode sandbox) {
        return StreamSupport.stream(sandbox.path("executions").spliterator(), false)
                .map(execution -> execution.path("execution_id").asString())
                .toList();
    }

    @Test
    void theExecutionsOfOneSandboxAreListedNewestFirstWithTheIdsThatAreReadByThem() throws Exception {
        ran("aaaaaaaaaaaaaaaa", "done", "code");
        ran("not an id", "done", "code");
        ran("bbbbbbbbbbbbbbbb", "running", "command");

        JsonNode box = listed("{\"sandbox\":\"box\"}");

        assertThat(ids(box))
                .containsExactly("default.uid-box.1.bbbbbbbbbbbbbbbb", "default.uid-box.1.aaaaaaaaaaaaaaaa");
        JsonNode newest = box.path("executions").path(0);
        assertThat(newest.path("state").asString()).isEqualTo("running");
        assertThat(newest.path("kind").asString()).isEqualTo("command");
        assertThat(box.path("sessions").size()).isEqualTo(1);

        JsonNode read =
                gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\"}".formatted(ids(box).getFirst()));
        assertThat(read.path("structuredContent").path("stdout").asString()).isEqualTo("hello");
    }

    @Test
    void theNewest64AreTold() throws Exception {
        for (int number = 0; number < 70; number++) {
            char letter = (char) ('a' + number % 26);
            ran(String.valueOf(letter).repeat(15) + (char) ('a' + number / 26), "done", "code");
        }
        List<String> ids = ids(listed("{\"sandbox\":\"box\"}"));
        assertThat(ids).hasSize(64);
        assertThat(ids.getFirst()).endsWith("." + "r".repeat(15) + "c");
        assertThat(ids.getLast()).endsWith("." + "g".repeat(15) + "a");
    }

    @Test
    void aListOfAllTellsNoExecutions() throws Exception {
        ran("aaaaaaaaaaaaaaaa", "done", "code");
        JsonNode box = listed("{}");
        assertThat(box.path("executions").isNull()).isTrue();
        assertThat(box.path("sessions").size()).isEqualTo(1);
    }

    @Test
    void aSandboxThatDoesNotRunHasNone() throws Exception {
        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("default", "sandglass-default", "off", "off"), "uid-off"));
        JsonNode off = listed("{\"sandbox\":\"off\"}");
        assertThat(off.path("state").asString()).isEqualTo("stopped");
        assertThat(off.path("executions").isArray()).isTrue();
        assertThat(off.path("executions").size()).isZero();
    }

    @Test
    void whyASandboxDoesNotRunIsTold() throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "box", "box");
        gateway.sandboxes.put(new SandboxState.Pending(ref, "uid-box", "Evicted", "The node put the pod out."));
        assertThat(listed("{\"sandbox\":\"box\"}").path("detail").asString())
                .isEqualTo("Evicted: The node put the pod out");
        gateway.sandboxes.put(new SandboxState.Asleep(ref, "uid-box", "Idle"));
        assertThat(listed("{\"sandbox\":\"box\"}").path("detail").asString()).isEqualTo("Idle");
        gateway.sandboxes.put(new SandboxState.Stopped(ref, "uid-box"));
        assertThat(listed("{\"sandbox\":\"box\"}").path("detail").isNull()).isTrue();
    }

    @Test
    void whyAContainerWasRestartedIsTold() throws Exception {
        RunningSandbox box = gateway.sandboxes.addRunning("box");
        assertThat(listed("{\"sandbox\":\"box\"}").path("detail").isNull()).isTrue();
        gateway.sandboxes.put(new SandboxState.Running(new RunningSandbox(
                box.ref(),
                box.uid(),
                1,
                box.address(),
                box.port(),
                List.of(),
                box.reach(),
                new Restarts(1, "The sandbox runs; restarts of its container: 1"),
                Optional.empty())));
        assertThat(listed("{\"sandbox\":\"box\"}").path("detail").asString())
                .isEqualTo("The sandbox runs; restarts of its container: 1");
    }

    private List<String> names(String key, String arguments) throws Exception {
        JsonNode told = gateway.call(key, "sandbox_list", arguments)
                .path("structuredContent")
                .path("sandboxes");
        return told.valueStream()
                .map(entry -> entry.path("namespace").asString() + "/"
                        + entry.path("name").asString())
                .toList();
    }

    @Test
    void theWildcardIsCutToWhatTheCallerMaySee() throws Exception {
        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("other", "sandglass-other", "box", "box"), "uid-foreign"));

        assertThat(names(TestGateway.KEY, "{\"namespace\":\"*\"}")).containsExactly("default/box");
        assertThat(names(TestGateway.OTHER_KEY, "{\"namespace\":\"*\"}")).containsExactly("other/box");
        assertThat(names(TestGateway.OTHER_KEY, "{\"namespace\":\"*\",\"sandbox\":\"bo\"}"))
                .isEmpty();
    }

    @Test
    void executionsAreToldOfOneSandboxAlone() throws Exception {
        ran("aaaaaaaaaaaaaaaa", "done", "code");
        String everywhere = "{\"namespace\":\"*\",\"sandbox\":\"box\"}";
        assertThat(ids(listed(everywhere))).hasSize(1);

        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("default", "sandglass-default", "box-x1", "box"), "uid-2"));

        assertThat(names(TestGateway.KEY, everywhere)).containsExactly("default/box", "default/box");
        assertThat(listed(everywhere).path("executions").isNull()).isTrue();
    }

    private String text(String arguments) throws Exception {
        return TestGateway.text(gateway.call("sandbox_list", arguments));
    }

    @Test
    void theTextOfOneHasALineForEachSessionAndExecution() throws Exception {
        ran("aaaaaaaaaaaaaaaa", "running", "command");

        assertThat(text("{\"sandbox\":\"box\"}").lines())
                .hasSize(3)
                .satisfiesExactly(
                        head -> assertThat(head).isEqualTo("box: running"),
                        session -> assertThat(session).startsWith("session 'default' python: "),
                        run -> assertThat(run)
                                .isEqualTo("execution default.uid-box.1.aaaaaaaaaaaaaaaa: command, running"));
    }

    @Test
    void theTextOfSeveralHasALineForEach() throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "off", "off");
        gateway.sandboxes.put(new SandboxState.Asleep(ref, "uid-off", "Idle"));

        assertThat(text("{}").lines())
                .hasSize(2)
                .anySatisfy(line -> assertThat(line).startsWith("box: running; session 'default' python: "))
                .contains("off: suspended (Idle)");
    }

    @Test
    void theTextIsBoundedRunningOnesFirstAndSaysHowManyItLeavesOut() throws Exception {
        for (int number = 0; number < 80; number++) {
            gateway.sandboxes.put(new SandboxState.Stopped(
                    new SandboxRef("default", "sandglass-default", "a" + number, "a" + number), "a" + number));
        }

        List<String> lines = text("{}").lines().toList();

        assertThat(lines).hasSize(ListText.MOST_SANDBOXES + 1);
        assertThat(lines.getFirst()).startsWith("box: running");
        assertThat(lines.getLast())
                .isEqualTo("Not shown: %d more, 0 of them running. Name one with 'sandbox'."
                        .formatted(81 - ListText.MOST_SANDBOXES));
    }

    @Test
    void sandboxesOfSeveralTenantsAreToldWithThem() {
        var listed = new ListTool.Listed(
                List.of(
                        new ListTool.Entry("a", "box", "stopped", null, List.of(), null),
                        new ListTool.Entry("b", "box", "running", null, null, null)),
                true);

        assertThat(ListText.of(listed))
                .isEqualTo("b/box: running, did not tell its sessions in time\na/box: stopped\n"
                        + "Not shown: 0 more and others, 0 of them running. Name one with 'sandbox'.");
    }

    @Test
    void whereThereAreNoneItSaysSo() throws Exception {
        assertThat(TestGateway.text(gateway.call(TestGateway.OTHER_KEY, "sandbox_list", "{}")))
                .isEqualTo("There are no sandboxes; sandbox_run_code with a name of your choice starts one.");
    }

    @Test
    void theSchemaSaysWhatStoppedAndSuspendedMean() throws Exception {
        assertThat(gateway.definition("sandbox_list")
                        .at("/outputSchema/properties/sandboxes/items/properties/state/description")
                        .asString())
                .contains("stopped: by sandbox_stop, until sandbox_start")
                .contains("brings it back without its variables");
    }

    @Test
    void anUnknownSandboxIsAnError() throws Exception {
        assertThat(TestGateway.text(gateway.call("sandbox_list", "{\"sandbox\":\"no\"}")))
                .isEqualTo("Error: Sandbox 'no' not found in namespace 'default'. Call sandbox_start with this name to"
                        + " create it.");
    }
}
