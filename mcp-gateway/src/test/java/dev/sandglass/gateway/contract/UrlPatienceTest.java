package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A client whose own time-out is short says so in the URL, where no model has to know of it. */
class UrlPatienceTest {

    @ParameterizedTest
    @CsvSource({"/mcp?wait=4, 4000", "/mcp?wait=0, 0", "/mcp?a=b&wait=0.25&c, 250", "/mcp?wait=86400, 86400000"})
    void aNumberOfSeconds(String uri, long millis) {
        assertThat(UrlPatience.of(Query.of(uri))).contains(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mcp", "/mcp?", "/mcp?a=b", "/mcp?Wait=4", "/mcp?awaits=4"})
    void withoutItTheInstallationsCounts(String uri) {
        assertThat(UrlPatience.of(Query.of(uri))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/mcp?wait=",
                "/mcp?wait=-1",
                "/mcp?wait=4s",
                "/mcp?wait=86401",
                "/mcp?wait=86400.001",
                "/mcp?wait=1e3",
                "/mcp?wait=NaN",
                "/mcp?wait=%34",
                "/mcp?wait=4&wait=5",
                "/mcp?wait=000004"
            })
    void anythingElseIsRefused(String uri) {
        assertThatThrownBy(() -> UrlPatience.of(Query.of(uri)))
                .hasMessageContaining("'wait' in the URL must be one number");
    }

    private static String run(String more) {
        return """
                {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_run_code","arguments":\
                {"sandbox":"box","code":"hang"%s}}}""".formatted(more);
    }

    @Test
    void itCountsForCallsThatSayNothingAndAnArgumentWins() throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            gateway.sandboxes.addRunning("box");
            URI impatient = URI.create(gateway.base() + "/mcp?structured=true&wait=0.1");

            HttpResponse<String> soon = gateway.send(gateway.post(run("")).uri(impatient));
            assertThat(gateway.json(soon).at("/result/structuredContent/status").asString())
                    .isEqualTo("running");

            long begun = System.nanoTime();
            HttpResponse<String> later =
                    gateway.send(gateway.post(run(",\"wait\":0.6")).uri(impatient));
            assertThat(gateway.json(later)
                            .at("/result/structuredContent/status")
                            .asString())
                    .isEqualTo("running");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(550));

            HttpResponse<String> odd =
                    gateway.send(gateway.post(run("")).uri(URI.create(gateway.base() + "/mcp" + "?wait=soon")));
            assertThat(odd.statusCode()).isEqualTo(400);
            assertThat(gateway.json(odd).at("/error/message").asString()).contains("'wait' in the URL");
        }
    }
}
