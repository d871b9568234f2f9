package dev.sandglass.gateway.contract.dropin.codemode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.ExecutionError;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The words of {@code run_python} for what no stand-in for a supervisor does. */
class RunPythonAnswerTest {

    private static JsonNode facts(
            ExecutionStatus status,
            @Nullable ExecutionError error,
            @Nullable Integer exitCode,
            @Nullable Integer signal) {
        return facts(status, error, exitCode, signal, "begun\nsoon", List.of());
    }

    private static JsonNode facts(
            ExecutionStatus status,
            @Nullable ExecutionError error,
            @Nullable Integer exitCode,
            @Nullable Integer signal,
            String stdout,
            List<String> servers) {
        var result = new ExecutionResult(
                status,
                new ExecutionId("default", "uid-box", 1, "a".repeat(16)),
                stdout,
                "warned",
                "43",
                null,
                error,
                List.of(),
                0,
                exitCode,
                signal,
                0,
                CutOutput.NONE,
                0,
                7,
                false,
                status == ExecutionStatus.OK ? "" : "It ended.",
                null,
                null,
                null,
                0,
                List.of());
        ToolResult answer = new RunPythonAnswer(
                        new Run(result, null, false, List.of()),
                        Duration.ofSeconds(7),
                        servers,
                        new Steps(_ -> Optional.empty()))
                .in(OutputForm.COMPACT, Optional.empty());
        return (JsonNode) Objects.requireNonNull(answer.structuredContent());
    }

    @Test
    void x9ALastExpressionIsNotShown() {
        assertThat(facts(ExecutionStatus.OK, null, null, null).toString())
                .isEqualTo("{\"status\":\"success\",\"summary\":\"Success\",\"exitCode\":0,"
                        + "\"stdout\":[\"begun\",\"soon\"],\"stderr\":[\"warned\"]}");
    }

    @ParameterizedTest
    @CsvSource(
            value = {
                "MCPError | Unknown MCP server: x; registered are: github | '' | x | validation_error",
                "MCPError | Unknown MCP server: x; registered are: github | printed | x | error",
                "MCPError | Unknown MCP server: x; registered are: github | '' | '' | error",
                "MCPError | no answer within 5 s | '' | x | error",
                "ValueError | Unknown MCP server: x | '' | x | error",
            },
            delimiter = '|')
    void x11AServerThatIsNotThereIsAValidationError(
            String name, String message, String stdout, String server, String status) {
        JsonNode facts = facts(
                ExecutionStatus.ERROR,
                new ExecutionError(name, message, name + ": " + message),
                null,
                null,
                stdout,
                server.isEmpty() ? List.of() : List.of(server));

        assertThat(facts.path("status").asString()).isEqualTo(status);
        assertThat(facts.path("error").asString())
                .isEqualTo(status.equals("validation_error") ? message : "Sandbox exited with code 1");
    }

    @Test
    void x12ATimeoutKeepsWhatWasPrinted() {
        assertThat(facts(ExecutionStatus.TIMEOUT, null, null, null).toString())
                .isEqualTo("{\"status\":\"timeout\",\"summary\":\"Timeout: execution exceeded 7s\","
                        + "\"stdout\":[\"begun\",\"soon\"],\"stderr\":[\"warned\"],"
                        + "\"error\":\"Execution timed out after 7s\",\"timeoutSeconds\":7}");
    }

    @ParameterizedTest
    @CsvSource({"3, 3", "-1, 255", "256, 0", "a reason, 1", "True, 1", "99999999999, 1"})
    void x10AnExitGivesItsNumber(String said, int code) {
        JsonNode facts =
                facts(ExecutionStatus.ERROR, new ExecutionError("SystemExit", said, "SystemExit: " + said), null, null);

        assertThat(facts.path("exitCode").asInt()).isEqualTo(code);
        assertThat(facts.path("status").asString()).isEqualTo(code == 0 ? "success" : "error");
        // No traceback: a program that ends so prints none.
        assertThat(facts.path("stderr").toString()).isEqualTo("[\"warned\"]");
    }

    @ParameterizedTest
    @CsvSource({
        "INTERRUPTED, , , 130",
        "OOM_KILLED, , , 137",
        "KERNEL_DIED, , 11, 139",
        "KERNEL_DIED, 4, , 4",
        "KERNEL_DIED, 0, , 1",
    })
    void x10WhatKillsIsAnExitCode(
            ExecutionStatus status, @Nullable Integer exitCode, @Nullable Integer signal, int code) {
        JsonNode facts = facts(status, null, exitCode, signal);
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("summary").asString()).isEqualTo("Sandbox error: Sandbox exited with code " + code);
        assertThat(facts.path("stdout").size()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"RUNNING", "REJECTED", "ENV_ERROR", "LOST"})
    void x10WhatElseEndsIsAnUnexpectedFailure(ExecutionStatus status) {
        JsonNode facts = facts(status, null, null, null);
        assertThat(facts.path("summary").asString()).isEqualTo("Unexpected failure");
        assertThat(facts.path("error").asString()).isEqualTo("It ended.");
        assertThat(facts.has("exitCode")).isFalse();
    }
}
