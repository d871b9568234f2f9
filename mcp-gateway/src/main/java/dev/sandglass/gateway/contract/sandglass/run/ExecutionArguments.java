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
    private static final int PAGE_CHARS = 8_000;
    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);

    private ExecutionArguments() {}

    static Schema addTo(Schema schema, ToolSettings settings) {
        return addLimitsTo(
                schema.optional("envs", Variables.schema("Environment variables of this run alone")), settings);
    }

    static Schema addLimitsTo(Schema schema, ToolSettings settings) {
        return schema.optional(
                        "timeout",
                        Schema.seconds(
                                "Seconds after which it is interrupted, default %d"
                                        .formatted(settings.timeout().toSeconds()),
                                LEAST_TIMEOUT,
                                settings.maxTimeout()))
                .optional("wait", waitSchema(settings))
                .optional("background", Schema.flag("Answer at once with an execution_id; it runs on"))
                .optional("max_output_chars", outputSchema(settings));
    }

    static Schema waitSchema(ToolSettings settings) {
        return Schema.seconds(
                "Seconds to wait for the end, default %d; then read on with sandbox_get_execution"
                        .formatted(settings.waitFor().toSeconds()),
                Duration.ZERO,
                settings.maxTimeout());
    }

    private static Schema outputSchema(ToolSettings settings) {
        return Schema.integer("Default %d; longer output is cut in the middle".formatted(settings.maxOutputChars()));
    }

    /** The same argument where output is read page by page. */
    static Schema pageSchema(ToolSettings settings) {
        return Schema.integer("Size of the page, default %d".formatted(pageChars(settings)));
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

    /** A page may be one of an error, which agents cut. */
    static int pageChars(ToolSettings settings) {
        return Math.min(PAGE_CHARS, settings.maxOutputChars());
    }

    static int maxOutputChars(Arguments arguments, ToolSettings settings) {
        return maxOutputChars(arguments, settings.maxOutputChars());
    }

    static int maxOutputChars(Arguments arguments, int otherwise) {
        return arguments.integer("max_output_chars", 1, MOST_OUTPUT_CHARS).orElse(otherwise);
    }
}
