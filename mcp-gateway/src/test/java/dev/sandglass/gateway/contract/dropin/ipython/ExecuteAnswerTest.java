package dev.sandglass.gateway.contract.dropin.ipython;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.Image;
import dev.sandglass.gateway.sandbox.NextStep;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The words of {@code execute} for what no stand-in for a supervisor does. */
class ExecuteAnswerTest {

    private static final Steps STEPS = new Steps(IpythonContract::words);

    private static ExecutionResult result(
            ExecutionStatus status,
            @Nullable ExecutionError error,
            List<Image> images,
            CutOutput cut,
            @Nullable NextStep next) {
        return result(status, error, images, cut, next, null);
    }

    private static ExecutionResult result(
            ExecutionStatus status,
            @Nullable ExecutionError error,
            List<Image> images,
            CutOutput cut,
            @Nullable NextStep next,
            @Nullable String warning) {
        return new ExecutionResult(
                status,
                new ExecutionId("default", "uid-box", 1, "a".repeat(16)),
                "partial",
                "warned",
                null,
                null,
                error,
                images,
                0,
                null,
                null,
                0,
                cut,
                0,
                7,
                false,
                status == ExecutionStatus.OK ? "" : "It ended.",
                next,
                warning,
                null,
                0,
                List.of());
    }

    private static ToolResult answer(ExecutionResult result, List<UnreachedHost> unreached) {
        return new ExecuteAnswer(new Run(result, null, false, unreached), STEPS)
                .result(new ExecuteAnswer.Asked("s", Optional.empty(), Optional.empty()), Optional.empty());
    }

    private static JsonNode facts(ExecutionResult result) {
        return (JsonNode) Objects.requireNonNull(answer(result, List.of()).structuredContent());
    }

    @ParameterizedTest
    @CsvSource({
        "OK, ok",
        "ERROR, error",
        "TIMEOUT, timeout",
        "ENV_ERROR, env_error",
        "INTERRUPTED, error",
        "RUNNING, error",
        "KERNEL_DIED, error",
        "OOM_KILLED, error",
        "REJECTED, error",
        "LOST, error"
    })
    void p4ToP7EachEndIsOneOfFourStatuses(ExecutionStatus status, String word) {
        JsonNode facts = facts(result(status, null, List.of(), CutOutput.NONE, null));

        assertThat(facts.path("status").asString()).isEqualTo(word);
        assertThat(facts.path("stdout").asString()).isEqualTo("partial");
        assertThat(facts.path("stderr").asString()).isEqualTo("warned");
        assertThat(facts.path("error").isNull()).isEqualTo(status == ExecutionStatus.OK);
    }

    @ParameterizedTest
    @EnumSource(ExecutionStatus.class)
    void noStatusIsAnErrorOfTheProtocol(ExecutionStatus status) {
        assertThat(answer(result(status, null, List.of(), CutOutput.NONE, null), List.of())
                        .isError())
                .isFalse();
    }

    @Test
    void p5WithoutATracebackTheErrorIsNamed() {
        var error = new ExecutionError("ValueError", "no", "");
        assertThat(facts(result(ExecutionStatus.ERROR, error, List.of(), CutOutput.NONE, null))
                        .path("error")
                        .asString())
                .isEqualTo("ValueError: no");
    }

    @Test
    void p6ATimeoutSaysWhatToDo() {
        assertThat(facts(result(ExecutionStatus.TIMEOUT, null, List.of(), CutOutput.NONE, NextStep.Plain.MORE_TIME))
                        .path("error")
                        .asString())
                .isEqualTo("It ended. The session goes on; give a longer timeout_s or less work.");
    }

    @Test
    void p13TheLimitOfSessionsNamesTheToolsThatHelp() {
        assertThat(facts(result(
                                ExecutionStatus.REJECTED,
                                null,
                                List.of(),
                                CutOutput.NONE,
                                NextStep.Plain.END_A_SESSION))
                        .path("error")
                        .asString())
                .contains("list_sessions", "shutdown");
    }

    private static String warning(String warned, String session, Optional<String> env, Optional<Session> kernel) {
        ExecutionResult result = result(ExecutionStatus.OK, null, List.of(), CutOutput.NONE, null, warned);
        ToolResult answer = new ExecuteAnswer(new Run(result, null, false, List.of()), STEPS)
                .result(new ExecuteAnswer.Asked(session, env, Optional.empty()), kernel);
        return ((JsonNode) Objects.requireNonNull(answer.structuredContent()))
                .path("warning")
                .asString();
    }

    @Test
    void p15TheWarningOfAnotherEnvHasOneFormWhateverElseIsWarnedOf() {
        String late =
                "Session 'u-dHdvIHdvcmRz' runs in the sandbox's own Python and goes on in it; python_env 'b' counts"
                        + " when a session begins: use another session, or close this one first.";
        var kernel = new Session(new Session.Name("python", "u-dHdvIHdvcmRz"), "idle", 1, 1.0, null, null, true);
        String own = "session 'two words' is bound to env 'default' (/opt/sandglass/bin/python); ignoring requested env"
                + " 'b'. Use shutdown('two words') first to rebind.";

        assertThat(warning(late, "two words", Optional.of("b"), Optional.of(kernel)))
                .isEqualTo(own);
        assertThat(warning("Before. " + late + " After.", "two words", Optional.of("b"), Optional.of(kernel)))
                .isEqualTo("Before. " + own + " After.");
        assertThat(warning("Memory was short.", "two words", Optional.of("b"), Optional.of(kernel)))
                .isEqualTo("Memory was short.");
        assertThat(warning(late, "two words", Optional.of("b"), Optional.empty()))
                .startsWith("session 'two words' is bound to another env; ignoring requested env 'b'.")
                .doesNotContain("python_env");
    }

    @Test
    void aSessionIsCalledAsTheCallerCallsIt() {
        assertThat(warning("kernel python/u-dHdvIHdvcmRz is slow", "two words", Optional.empty(), Optional.empty()))
                .isEqualTo("kernel python/two words is slow");
    }

    @Test
    void p18PicturesStandBesideTheText() {
        var picture = new Image("image/png", "AAAA", 3, null);
        ToolResult answer = answer(result(ExecutionStatus.OK, null, List.of(picture), CutOutput.NONE, null), List.of());

        assertThat(answer.content()).hasSize(2).contains(new ToolResult.Content.Image("image/png", "AAAA"));
    }

    @Test
    void whatIsCutOrNotReachedIsAWarning() {
        assertThat(facts(result(ExecutionStatus.OK, null, List.of(), CutOutput.READABLE, null))
                        .path("warning")
                        .asString())
                .startsWith("Output is cut: print less");
        ToolResult refused = answer(
                result(ExecutionStatus.OK, null, List.of(), CutOutput.NONE, null),
                List.of(
                        new UnreachedHost.Denied("a.example.com:443", "not-allowed", 1),
                        new UnreachedHost.Failed("b.example.com:443", "no route", 1)));
        assertThat(refused.content().toString())
                .contains("not among the 'allowed_domains' of this sandbox")
                .contains("Allowed, but not reached")
                .doesNotContain("sandbox_");
    }
}
