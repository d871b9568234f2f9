package dev.sandglass.gateway.execution;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * What a running sandbox uses, as its supervisor reads it in the pod's own control group and network. A value that
 * cannot be read is null.
 *
 * @param cpuSeconds processor time since the container started, in seconds
 * @param cpuUsagePercent of one processor, over the last 5 to 10 seconds; 100 = one processor fully used
 * @param cpuLimit how many processors it may use at a time; null = as many as there are
 * @param memoryBytes working set
 * @param memoryLimitBytes at which processes are killed
 * @param memoryPeakBytes highest use since the container started, file cache included
 * @param oomKills processes that were killed for lack of memory since the container started
 * @param diskBytes used in the sandbox's own volumes
 * @param diskLimitBytes their size
 * @param pids processes and threads
 * @param pidsLimit how many there may be; a lower limit that the node sets for the whole pod is not seen from inside
 * @param networkReceivedBytes over the pod's network devices since it was made, the link to the gateway included
 * @param networkSentBytes likewise
 * @param kernels how many sessions there are
 * @param uptimeSeconds since the container started
 */
public record SandboxMetrics(
        @Nullable Double cpuSeconds,
        @Nullable Double cpuUsagePercent,
        @Nullable Double cpuLimit,
        @Nullable Long memoryBytes,
        @Nullable Long memoryLimitBytes,
        @Nullable Long memoryPeakBytes,
        @Nullable Long oomKills,
        @Nullable Long diskBytes,
        @Nullable Long diskLimitBytes,
        @Nullable Long pids,
        @Nullable Long pidsLimit,
        @Nullable Long networkReceivedBytes,
        @Nullable Long networkSentBytes,
        @Nullable Long kernels,
        @Nullable Double uptimeSeconds) {

    /** Nothing could be read. */
    public static final SandboxMetrics UNKNOWN = parse(MissingNode.getInstance());

    static SandboxMetrics parse(JsonNode json) {
        return new SandboxMetrics(
                decimal(json.path("cpu_seconds")),
                decimal(json.path("cpu_usage_percent")),
                decimal(json.path("cpu_limit")),
                whole(json.path("memory_bytes")),
                whole(json.path("memory_limit_bytes")),
                whole(json.path("memory_peak_bytes")),
                whole(json.path("oom_kills")),
                whole(json.path("disk_bytes")),
                whole(json.path("disk_limit_bytes")),
                whole(json.path("pids")),
                whole(json.path("pids_limit")),
                whole(json.path("network_received_bytes")),
                whole(json.path("network_sent_bytes")),
                whole(json.path("kernels")),
                decimal(json.path("uptime_s")));
    }

    private static @Nullable Double decimal(JsonNode value) {
        return value.isNumber() ? value.doubleValue() : null;
    }

    private static @Nullable Long whole(JsonNode value) {
        return value.isIntegralNumber() && value.canConvertToLong() ? value.longValue() : null;
    }
}
