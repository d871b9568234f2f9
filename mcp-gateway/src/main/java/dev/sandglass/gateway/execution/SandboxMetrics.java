package dev.sandglass.gateway.execution;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a running sandbox uses, as its supervisor reads it in the pod's own control group. A value that cannot be read is
 * null.
 *
 * @param cpuSeconds processor time since the container started, in seconds
 * @param cpuUsagePercent of one processor, since the last reading; 100 = one processor fully used
 * @param memoryBytes working set
 * @param memoryLimitBytes at which processes are killed
 * @param memoryPeakBytes highest use so far
 * @param diskBytes used in the sandbox's own volumes
 * @param diskLimitBytes their size
 * @param pids processes and threads
 * @param pidsLimit how many there may be
 * @param uptimeSeconds since the container started
 */
public record SandboxMetrics(
        @Nullable Double cpuSeconds,
        @Nullable Double cpuUsagePercent,
        @Nullable Long memoryBytes,
        @Nullable Long memoryLimitBytes,
        @Nullable Long memoryPeakBytes,
        @Nullable Long diskBytes,
        @Nullable Long diskLimitBytes,
        @Nullable Long pids,
        @Nullable Long pidsLimit,
        @Nullable Double uptimeSeconds) {

    static SandboxMetrics parse(JsonNode json) {
        return new SandboxMetrics(
                decimal(json.path("cpu_seconds")),
                decimal(json.path("cpu_usage_percent")),
                whole(json.path("memory_bytes")),
                whole(json.path("memory_limit_bytes")),
                whole(json.path("memory_peak_bytes")),
                whole(json.path("disk_bytes")),
                whole(json.path("disk_limit_bytes")),
                whole(json.path("pids")),
                whole(json.path("pids_limit")),
                decimal(json.path("uptime_s")));
    }

    private static @Nullable Double decimal(JsonNode value) {
        return value.isNumber() ? value.doubleValue() : null;
    }

    private static @Nullable Long whole(JsonNode value) {
        return value.isIntegralNumber() && value.canConvertToLong() ? value.longValue() : null;
    }
}
