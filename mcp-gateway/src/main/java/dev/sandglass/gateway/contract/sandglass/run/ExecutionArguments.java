package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.Variables;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionRequest;
import java.time.Duration;

/** The arguments that say how long and how much: the same for code, commands and installations. */
final class ExecutionArguments {

    static final int MOST_OUTPUT_CHARS = 1_000_000;
    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);

    private ExecutionArguments() {}

    static Schema addTo(Schema schema, ToolSettings settings) {
        return addLimitsTo(
                schema.optional("envs", Variables.schema("Environment variables for this execution only")), settings);
    }

    static Schema addLimitsTo(Schema schema, ToolSettings settings) {
        return schema.optional(
                        "timeout",
                        Schema.seconds(
                                "Seconds of running after which it is interrupted; default %d, at most %d"
                                        .formatted(
                                                settings.timeout().toSeconds(),
                                                settings.maxTimeout().toSeconds()),
                                LEAST_TIMEOUT,
                                settings.maxTimeout()))
                .optional("wait", waitSchema(settings))
                .optional(
                        "background",
                        Schema.flag("Answer at once with an execution_id and let it run on, also when the"
                                + " connection closes"))
                .optional("max_output_chars", outputSchema(settings));
    }

    static Schema waitSchema(ToolSettings settings) {
        return Schema.seconds(
                ("Seconds to hold the line, default %d; if it still runs then, the answer has status"
                                + " 'running' and an execution_id to read on with sandbox_get_execution")
                        .formatted(settings.waitFor().toSeconds()),
                Duration.ZERO,
                settings.maxTimeout());
    }

    private static Schema outputSchema(ToolSettings settings) {
        return charsSchema(
                ("Most characters of output in the answer, default %d; the middle of longer output is cut, and"
                                + " sandbox_get_execution reads it")
                        .formatted(settings.maxOutputChars()));
    }

    /** The same argument where output is read page by page. */
    static Schema pageSchema(ToolSettings settings) {
        return charsSchema(
                ("Size of the page in characters, default %d: of text, of the result and of the traceback. What"
                                + " is longer goes on at next_offset, so that any size gets all of it")
                        .formatted(settings.maxOutputChars()));
    }

    private static Schema charsSchema(String description) {
        return Schema.integer(description).with("minimum", 1).with("maximum", MOST_OUTPUT_CHARS);
    }

    static ExecutionRequest.Limits limits(Arguments arguments, ToolSettings settings) {
        return new ExecutionRequest.Limits(
                arguments
                        .seconds("timeout", LEAST_TIMEOUT, settings.maxTimeout())
                        .orElse(settings.timeout()),
                waitFor(arguments, settings),
                arguments.flag("background"),
                maxOutputChars(arguments, settings));
    }

    /** The id in a text, else the words that say where ids come from. */
    static ExecutionId executionId(String given) {
        return ExecutionId.parse(given)
                .orElseThrow(() -> new InvalidArgument(
                        "'execution_id' must be one that an earlier answer or sandbox_list gave, copied exactly"));
    }

    static Duration waitFor(Arguments arguments, ToolSettings settings) {
        return arguments
                .seconds("wait", Duration.ZERO, settings.maxTimeout())
                .orElseGet(() -> arguments.patience(settings.waitFor()));
    }

    static int maxOutputChars(Arguments arguments, ToolSettings settings) {
        return arguments.integer("max_output_chars", 1, MOST_OUTPUT_CHARS).orElse(settings.maxOutputChars());
    }
}
