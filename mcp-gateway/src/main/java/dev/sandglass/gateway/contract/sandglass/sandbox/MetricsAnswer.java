package dev.sandglass.gateway.contract.sandglass.sandbox;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.action.Overview;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.execution.SandboxMetrics;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/**
 * What {@code sandbox_get_metrics} answers: contracts.md M23, with more fields after those of the contract.
 *
 * @param sandboxes ordered by tenant and name
 * @param truncated there are more than one answer tells of
 */
record MetricsAnswer(List<Usage> sandboxes, boolean truncated) {

    private static final double MIB = 1024.0 * 1024.0;

    /**
     * One sandbox.
     *
     * @param namespace its tenant
     * @param name as its maker wrote it
     * @param running its pod is Ready
     * @param cpuUsage percent of one processor
     * @param memoryUsage working set in MiB
     * @param diskUsage bytes
     * @param cpuSeconds processor time
     * @param cpuLimit processors
     * @param memoryLimit MiB
     * @param memoryPeak MiB
     * @param oomKills processes
     * @param diskLimit bytes
     * @param uptime seconds
     * @param pids processes and threads
     * @param pidsLimit how many there may be
     * @param networkReceived bytes
     * @param networkSent bytes
     * @param kernels sessions
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Usage(
            String namespace,
            String name,
            boolean running,
            @Nullable Double cpuUsage,
            @Nullable Double memoryUsage,
            @Nullable Long diskUsage,
            @Nullable Double cpuSeconds,
            @Nullable Double cpuLimit,
            @Nullable Double memoryLimit,
            @Nullable Double memoryPeak,
            @Nullable Long oomKills,
            @Nullable Long diskLimit,
            @Nullable Double uptime,
            @Nullable Long pids,
            @Nullable Long pidsLimit,
            @Nullable Long networkReceived,
            @Nullable Long networkSent,
            @Nullable Long kernels) {

        static Usage of(SandboxRef ref, boolean running, SandboxMetrics metrics) {
            return new Usage(
                    ref.tenant(),
                    ref.givenName(),
                    running,
                    metrics.cpuUsagePercent(),
                    mib(metrics.memoryBytes()),
                    metrics.diskBytes(),
                    metrics.cpuSeconds(),
                    metrics.cpuLimit(),
                    mib(metrics.memoryLimitBytes()),
                    mib(metrics.memoryPeakBytes()),
                    metrics.oomKills(),
                    metrics.diskLimitBytes(),
                    metrics.uptimeSeconds(),
                    metrics.pids(),
                    metrics.pidsLimit(),
                    metrics.networkReceivedBytes(),
                    metrics.networkSentBytes(),
                    metrics.kernels());
        }

        private static @Nullable Double mib(@Nullable Long bytes) {
            return bytes == null ? null : Math.round(bytes / MIB * 100) / 100.0;
        }
    }

    private static Schema number(String description) {
        return Schema.number(description).orNull();
    }

    private static Schema integer(String description) {
        return Schema.integer(description).orNull();
    }

    static Map<String, Object> schema() {
        Schema usage = Schema.object()
                .required("namespace", Schema.text("Tenant"))
                .required("name", Schema.text("Name of the sandbox"))
                .required("running", Schema.flag("It can run code now"))
                .required("cpu_usage", number("Percent of one processor, over the last 5 to 10 seconds"))
                .required("memory_usage", number("Working set in MiB"))
                .required("disk_usage", integer("Bytes in its own volumes"))
                .required("cpu_seconds", number("Processor time used"))
                .required("cpu_limit", number("Processors that it may use at a time; null: all of the node's"))
                .required("memory_limit", number("MiB"))
                .required("memory_peak", number("Most that was used, file cache included, in MiB"))
                .required("oom_kills", integer("Processes killed for lack of memory"))
                .required("disk_limit", integer("Bytes"))
                .required("uptime", number("Seconds"))
                .required("pids", integer("Processes and threads"))
                .required("pids_limit", integer("Most that there may be; the node may allow fewer"))
                .required("network_received", integer("Bytes, calls of these tools included"))
                .required("network_sent", integer("Bytes, calls of these tools included"))
                .required("kernels", integer("Sessions"));
        return Schema.object()
                .required("sandboxes", Schema.list("One entry for each sandbox", usage))
                .required(
                        "truncated",
                        Schema.flag("There are more; only %d are told of".formatted(Overview.MOST_SANDBOXES)))
                .keywords();
    }
}
