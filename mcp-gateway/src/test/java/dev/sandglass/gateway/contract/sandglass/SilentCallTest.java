package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Of each tool that may be silent for long, clients with a progress token hear every 15 s, at every endpoint. */
class SilentCallTest {

    private static final Duration SILENCE = Duration.ofSeconds(15);

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<JsonNode> heard = new CopyOnWriteArrayList<>();
    private VirtualTimeScheduler clock;
    private TestGateway gateway;

    @BeforeEach
    void start() {
        clock = VirtualTimeScheduler.getOrSet();
        gateway = TestGateway.patient();
        gateway.sandboxes.addRunning("box");
        gateway.sandboxes.startsAnswer(Mono.never());
    }

    @AfterEach
    void stop() {
        http.shutdownNow();
        // Only then nobody calls the supervisor any more.
        await().until(() -> gateway.meters
                        .find("sandglass.tool.calls")
                        .tag("outcome", "cancelled")
                        .timer()
                != null);
        gateway.close();
        VirtualTimeScheduler.reset();
    }

    private void call(String path, String tool, String arguments) {
        String body = TestGateway.toolCall(tool, arguments.replace('\'', '"'))
                .replace("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":1},");
        var request = gateway.post(body).uri(URI.create(gateway.base() + path)).build();
        var _ = http.sendAsync(request, BodyHandlers.ofLines()).thenAccept(response -> response.body()
                .filter(line -> line.startsWith("data: "))
                .forEach(line -> heard.add(JsonMapper.shared().readTree(line.substring("data: ".length())))));
        await().until(() -> !gateway.sandboxes.orders.isEmpty() || !gateway.supervisor.verbs.isEmpty());
    }

    /** The clock goes on by 15 s, and one more notification comes. */
    private String afterSilence() {
        int before = heard.size();
        clock.advanceTimeBy(SILENCE);
        await().until(() -> heard.size() == before + 1);
        return heard.getLast().at("/params/message").asString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "/mcp | sandbox_start | {'sandbox':'x'} | starting the sandbox",
                "/mcp | sandbox_run_code | {'sandbox':'x','code':'1'} | starting the sandbox",
                "/mcp | sandbox_run_command | {'sandbox':'x','command':'ls'} | starting the sandbox",
                "/mcp | sandbox_run_code | {'sandbox':'box','code':'hang','wait':60} | running",
                "/mcp | sandbox_install_packages | {'sandbox':'box','packages':['hang'],'wait':60} | running",
                "/mcp/ipython?sandbox=x | execute | {'session':'a','code':'1'} | starting the sandbox",
                "/mcp/ipybox?sandbox=x | execute_ipython_cell | {'code':'1'} | starting the sandbox",
                "/mcp/code-mode?sandbox=x | run_python | {'code':'1'} | starting the sandbox",
            })
    void everySilentToolIsHeardOf(String path, String tool, String arguments, String doing) {
        call(path, tool, arguments);

        // What it is at may be known only a moment after it was taken.
        var seconds = new AtomicInteger();
        await().pollInterval(Duration.ofMillis(1))
                .until(() -> afterSilence().equals("Still %s after %d s.\n".formatted(doing, seconds.addAndGet(15))));

        assertThat(heard)
                .extracting(event -> event.at("/params/progress").asInt())
                .isSorted()
                .doesNotHaveDuplicates();
        assertThat(heard).allMatch(event -> event.at("/params/progressToken").asInt() == 1);
    }

    @Test
    void oneThatWaitsForItsTurnTellsHowManyAreBeforeIt() {
        gateway.supervisor.queue("30");

        call("/mcp", "sandbox_run_code", "{'sandbox':'box','code':'hang','wait':60}");

        await().pollInterval(Duration.ofMillis(1))
                .until(() -> afterSilence().startsWith("Still waiting behind 1 other execution(s) after "));
    }
}
