package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolResult;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One line per tool call and per resource read under the logger {@code audit}: who did what to which sandbox, and what came of it. Of code,
 * commands, packages and files only digest and length are written, of output nothing.
 */
final class AuditLog {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

    private static final String TENANT = "namespace";
    private static final String FAULT = "fault";

    private final TenantAccess access;
    private final MeterRegistry meters;
    private final LongSupplier nanoTime;

    AuditLog(TenantAccess access, MeterRegistry meters, LongSupplier nanoTime) {
        this.access = access;
        this.meters = meters;
        this.nanoTime = nanoTime;
    }

    /** Has the faults of a method that is audited like a tool counted from zero. */
    void expect(String contract, String method) {
        timer(contract, method, FAULT);
    }

    /** Has a tool's faults counted from zero: in a counter that begins with its first one, nobody sees an increase. */
    void expect(String contract, Tool tool) {
        timer(contract, tool.definition().name(), FAULT);
    }

    private Timer timer(String contract, String tool, String outcome) {
        return meters.timer("sandglass.tool.calls", "contract", contract, "tool", tool, "outcome", outcome);
    }

    /** Notes the begin of a call; exactly one method of the entry ends it. */
    Entry begin(McpRequest request, Tool tool, ObjectNode arguments) {
        // An execution's id names its tenant.
        boolean ofTenant = tool.knownArguments().contains(TENANT) && !arguments.hasNonNull("execution_id");
        return new Entry(request, tool.definition().name(), ofTenant, arguments, nanoTime.getAsLong());
    }

    /** The same of a method that is audited like a tool; its fields name the tenant, if it has one. */
    Entry begin(McpRequest request, String method, ObjectNode fields) {
        return new Entry(request, method, false, fields, nanoTime.getAsLong());
    }

    /** A call under way. */
    final class Entry {
        private final Caller caller;
        private final String source;
        private final String contract;
        private final String tool;
        private final boolean ofTenant;
        private final ObjectNode arguments;
        private final long begin;

        private Entry(McpRequest request, String tool, boolean ofTenant, ObjectNode arguments, long begin) {
            this.caller = request.caller();
            this.source = request.client().address();
            this.contract = request.contract();
            this.tool = tool;
            this.ofTenant = ofTenant;
            this.arguments = arguments;
            this.begin = begin;
        }

        void answered(ToolResult result) {
            write(result.outcome(), result.executionId());
        }

        void ended(String outcome) {
            write(outcome, null);
        }

        void cancelled() {
            write("cancelled", null);
        }

        void failed(Throwable fault) {
            LOG.atError()
                    .addKeyValue("contract", contract)
                    .addKeyValue("tool", tool)
                    .setCause(fault)
                    .log("Tool call failed by a fault of the gateway");
            write(FAULT, null);
        }

        private void write(String outcome, @Nullable String executionId) {
            Duration duration = Duration.ofNanos(nanoTime.getAsLong() - begin);
            timer(contract, tool, outcome).record(duration);
            LoggingEventBuilder line = AUDIT.atInfo()
                    .addKeyValue("caller", caller.name())
                    .addKeyValue("source", source)
                    .addKeyValue("contract", contract)
                    .addKeyValue("tool", tool)
                    .addKeyValue("outcome", outcome)
                    .addKeyValue("duration_ms", duration.toMillis());
            line = withTenant(line);
            line = withText(line, "sandbox");
            line = withText(line, "delete");
            line = withDigest(line, "code");
            line = withDigest(line, "command");
            line = withDigest(line, "args");
            line = withDigest(line, "stdin");
            line = withDigest(line, "packages");
            line = withText(line, "action");
            line = withText(line, "path");
            line = withDigest(line, "content");
            if (executionId != null) {
                line = line.addKeyValue("execution_id", executionId);
            }
            line.log("tool call");
        }

        /** Names of sandboxes are of one tenant alone, so it is told too if the caller left his own out. */
        private LoggingEventBuilder withTenant(LoggingEventBuilder line) {
            JsonNode value = arguments.path(TENANT);
            boolean left = value.isMissingNode()
                    || value.isNull()
                    || (value.isString() && value.asString().isEmpty());
            return left && ofTenant ? line.addKeyValue(TENANT, access.own(caller)) : withText(line, TENANT);
        }

        private LoggingEventBuilder withText(LoggingEventBuilder line, String field) {
            JsonNode value = arguments.path(field);
            return value.isString() || value.isBoolean()
                    ? line.addKeyValue(field, McpError.shown(value.asString()))
                    : line;
        }

        private LoggingEventBuilder withDigest(LoggingEventBuilder line, String field) {
            JsonNode value = arguments.path(field);
            if (!value.isString() && !value.isArray()) {
                return line;
            }
            String text = value.isString() ? value.asString() : value.toString();
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            return line.addKeyValue(field + "_sha256", sha256(bytes)).addKeyValue(field + "_bytes", bytes.length);
        }
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
