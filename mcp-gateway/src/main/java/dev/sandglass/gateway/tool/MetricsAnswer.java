package dev.sandglass.gateway.tool;

import com.fasterxml.jackson.annotation.JsonInclude;
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
 */
record MetricsAnswer(List<Usage> sandboxes) {

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
     * @param memoryLimit MiB
     * @param memoryPeak MiB
     * @param diskLimit bytes
     * @param uptime seconds
     * @param pids processes and threads
     * @param pidsLimit how many there may be
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
            @Nullable Double memoryLimit,
            @Nullable Double memoryPeak,
            @Nullable Long diskLimit,
            @Nullable Double uptime,
            @Nullable Long pids,
            @Nullable Long pidsLimit) {

        static Usage of(SandboxRef ref, SandboxMetrics metrics) {
            return new Usage(
                    ref.tenant(),
                    ref.givenName(),
                    true,
                    metrics.cpuUsagePercent(),
                    mib(metrics.memoryBytes()),
                    metrics.diskBytes(),
                    mib(metrics.memoryLimitBytes()),
                    mib(metrics.memoryPeakBytes()),
                    metrics.diskLimitBytes(),
                    metrics.uptimeSeconds(),
                    metrics.pids(),
                    metrics.pidsLimit());
        }

        static Usage unknown(SandboxRef ref, boolean running) {
            return new Usage(
                    ref.tenant(), ref.givenName(), running, null, null, null, null, null, null, null, null, null);
        }

        private static @Nullable Double mib(@Nullable Long bytes) {
            return bytes == null ? null : Math.round(bytes / MIB * 100) / 100.0;
        }
    }

    static Map<String, Object> schema() {
        Schema usage = Schema.object()
                .required("namespace", Schema.text("Tenant"))
                .required("name", Schema.text("Name of the sandbox"))
                .required("running", Schema.flag("It can run code now"))
                .required("cpu_usage", Schema.number("Percent of one processor").orNull())
                .required("memory_usage", Schema.number("Working set in MiB").orNull())
                .required("disk_usage", Schema.integer("Bytes").orNull())
                .required("memory_limit", Schema.number("MiB").orNull())
                .required("memory_peak", Schema.number("MiB").orNull())
                .required("disk_limit", Schema.integer("Bytes").orNull())
                .required("uptime", Schema.number("Seconds").orNull())
                .required("pids", Schema.integer("Processes and threads").orNull())
                .required("pids_limit", Schema.integer("How many there may be").orNull());
        return Schema.object()
                .required("sandboxes", Schema.list("One entry for each sandbox", usage))
                .keywords();
    }
}
