package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.Durations;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Bounds of the calls of a server's tools.
 *
 * @param callTimeout a duration; null for as long as the execution that calls may take
 * @param maxResultSize of one result, {@value #DEFAULT_MAX_RESULT_SIZE} if absent
 * @param concurrency calls at a time, {@value #DEFAULT_CONCURRENCY} if absent
 * @param callsPerExecution calls of one execution, {@value #DEFAULT_CALLS_PER_EXECUTION} if absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CallLimits(
        @Size(max = Durations.MAX_LENGTH)
        @ValidationRule(value = ToolServerSchemaRules.CALL_TIMEOUT, message = ToolServerSchemaRules.CALL_TIMEOUT_WRONG)
        @JsonPropertyDescription(
                "How long one call may take, from 1s to 24h, such as 30s. Default: as long as the execution"
                        + " that calls may still take.")
        @Nullable
        String callTimeout,

        @Default(DEFAULT_MAX_RESULT_SIZE)
        @ValidationRule(
                value = ToolServerSchemaRules.RESULT_BOUNDS,
                message = ToolServerSchemaRules.RESULT_OUT_OF_BOUNDS)
        @JsonPropertyDescription("Size of a call's result, from 1Ki to 4Mi. A larger one is refused. Default: 4Mi.")
        Quantity maxResultSize,

        @Default("16")
        @Min(1)
        @Max(MAX_CONCURRENCY)
        @JsonPropertyDescription(
                "Calls that the server processes at a time, of all sandboxes together, from 1 to 32." + " Default: 16.")
        int concurrency,

        @Default("1000")
        @Min(1)
        @Max(MAX_CALLS_PER_EXECUTION)
        @JsonPropertyDescription("Calls that one execution may make, from 1 to 1000. Default: 1000.")
        int callsPerExecution) {

    /** Size of a result if none is given, and the largest. */
    public static final String DEFAULT_MAX_RESULT_SIZE = "4Mi";

    /** Calls at a time if no number is given. */
    public static final int DEFAULT_CONCURRENCY = 16;

    /** Calls of an execution if no number is given. */
    public static final int DEFAULT_CALLS_PER_EXECUTION = 1000;

    /** Most calls at a time. */
    public static final int MAX_CONCURRENCY = 32;

    /** Most calls of an execution. */
    public static final int MAX_CALLS_PER_EXECUTION = 1000;

    /** What holds for a server that says nothing. */
    public static final CallLimits DEFAULT = new CallLimits(null, null, 0, 0);

    /** Zero, which no server may have, stands for an absent number. */
    public CallLimits(
            @Nullable String callTimeout, @Nullable Quantity maxResultSize, int concurrency, int callsPerExecution) {
        this.callTimeout = callTimeout;
        this.maxResultSize = maxResultSize == null ? new Quantity(DEFAULT_MAX_RESULT_SIZE) : maxResultSize;
        this.concurrency = concurrency == 0 ? DEFAULT_CONCURRENCY : concurrency;
        this.callsPerExecution = callsPerExecution == 0 ? DEFAULT_CALLS_PER_EXECUTION : callsPerExecution;
    }

    /** The time that one call may take, if the resource bounds it. */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(callTimeout).map(Durations::parse);
    }

    /** The most bytes of a result. */
    public long maxResultBytes() {
        return Quantity.getAmountInBytes(maxResultSize).longValueExact();
    }
}
