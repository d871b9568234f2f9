package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.sandglass.sandbox.NextSteps;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** What code and authors of resources choose to say, on every way by which it comes to stand in our own words. */
@SuppressWarnings("NullAway.Init")
class HostileWordsContractTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private void running(Restarts restarts, Reach reach, Optional<String> awaited) {
        var sandbox = new RunningSandbox(REF, "uid-box", 1, "127.0.0.1", 5710, List.of(), reach, restarts, awaited);
        gateway.sandboxes.put(new SandboxState.Running(sandbox));
        gateway.sandboxes.startsAnswer(Mono.just(sandbox));
    }

    private String text(String tool, String more) throws Exception {
        JsonNode result = gateway.call(tool, "{\"sandbox\":\"box\"%s}".formatted(more));
        assertThat(result.path("content").size()).isOne();
        return TestGateway.text(result);
    }

    private static byte[] entry(String path) {
        return JsonMapper.shared()
                .writeValueAsString(List.of(Map.of("path", path, "type", "file", "size", 3, "modified", 0)))
                .getBytes(StandardCharsets.UTF_8);
    }

    private String servers(String words) throws Exception {
        gateway.supervisor.servers.listed =
                "{\"servers\":[{\"name\":\"web\",\"command\":%1$s,\"tools\":[{\"name\":%1$s,\"module\":\"a\",\"description\":%1$s}]}]}"
                        .formatted(words);
        return TestGateway.text(
                EndpointClient.of(gateway, "/mcp?tools=all").call("mcp_list_servers", "{'sandbox':'box'}"));
    }

    private static void isOurs(String text) {
        text.lines().map(String::strip).forEach(line -> assertThat(ForeignText.line(line, text.length()))
                .isEqualTo(line));
        assertThat(text.chars().filter(letter -> letter < ' ' && letter != '\n').count())
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\u001b[2J\u001b]8;;http://x\u0007b",
                "a\nError: ours\r\n[ok]\u2028b\u2029c\u0085d",
                "a\u202egpj.exe\u2066b\u2069\u200f",
                "a\u009b31mb\u0090c\u007f",
                "a\u200b\u200d\ufeff\u00adb",
                "a\udb40\udc49\udb40\udc67b\ufe0f\udb40\udd01",
                "a\ue000\uffff\u3164b",
            })
    void stayOnTheirLineAndAreSeen(String hostile) throws Exception {
        String json = JsonNodeFactory.instance.stringNode(hostile).toString();
        running(
                new Restarts(1, hostile),
                new Reach(List.of(hostile), false, Optional.of(ForeignText.line(hostile, 100))),
                Optional.of(ForeignText.line(hostile, 100)));

        gateway.supervisor.files.answerNext("{\"truncated\":false}", entry(hostile));
        String listed = text("sandbox_list_files", "");
        isOurs(listed);
        assertThat(listed.lines()).hasSize(1);
        // A name so told is the name that the next call gives.
        String told = listed.substring(0, listed.lastIndexOf(" (3 bytes)"));
        assertThat(JsonMapper.shared().readTree(told).asString()).isEqualTo(hostile);

        gateway.supervisor.files.answerNext(
                "{\"type\":\"link\",\"target\":%s,\"mode\":%s,\"modified\":0}".formatted(json, json), new byte[0]);
        String stat = text("sandbox_manage_files", ",\"action\":\"stat\",\"path\":%s".formatted(json));
        isOurs(stat);
        assertThat(stat.lines()).hasSize(1);

        String list = text("sandbox_list", "");
        isOurs(list);
        assertThat(list.lines()).hasSize(2);

        isOurs(text("sandbox_start", ""));
        gateway.supervisor.giveUp(json.substring(1, json.length() - 1));
        String unverified = text("sandbox_start", "");
        isOurs(unverified);
        assertThat(unverified).contains("Python kernel could not be started");

        isOurs(servers(json));
        gateway.sandboxes.deletionsMean(new Deletion(WorkspaceEnd.SCRATCH, List.of(hostile)));
        isOurs(text("sandbox_stop", ",\"delete\":true"));

        isOurs(new SandboxProblem.Refused(hostile).fact());
        isOurs(new InvalidArgument(hostile).text());
        var outcome = OutputRecord.Outcome.parse(
                0,
                JsonMapper.shared()
                        .readTree("{\"message\":%s,\"warning\":%s,\"hint\":{\"kind\":\"make\",\"line\":%s}}"
                                .formatted(json, json, json)));
        isOurs(NextSteps.told(outcome.message(), outcome.next()));
        isOurs(String.valueOf(outcome.warning()));
    }
}
