package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.execution.OutputListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * One line for each tool call, each call of a method that looks into sandboxes, and each end of a session, under the logger
 * {@code audit}: who did what to which sandbox, and what came of it. Of code, commands, packages and files only digest and
 * length are written, of output nothing.
 */
final class AuditLog {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");
    private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

    private static final String TENANT = "namespace";
    private static final String SANDBOX = "sandbox";
    private static final String FAULT = "fault";

    private final TenantAccess access;
    private final MeterRegistry meters;
    private final LongSupplier nanoTime;

    AuditLog(TenantAccess access, MeterRegistry meters, LongSupplier nanoTime) {
        this.access = access;
        this.meters = meters;
        this.nanoTime = nanoTime;
    }

    /**
     * Who called, and what.
     *
     * @param address that the call came from
     * @param contract as audit lines and metrics call it
     */
    record Origin(Caller caller, String address, String contract) {

        static Origin of(McpRequest request) {
            return new Origin(request.caller(), request.client().address(), request.contract());
        }
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
        Optional<Tool.Subject> subject =
                tool.subject(request.caller(), request.client().session());
        return new Entry(Origin.of(request), tool.definition().name(), ofTenant, subject, arguments);
    }

    /** The same of a method that is audited like a tool; its fields name the tenant, if it has one. */
    Entry begin(McpRequest request, String method, ObjectNode fields) {
        return new Entry(Origin.of(request), method, false, Optional.empty(), fields);
    }

    /** The same of what is no call of a method. */
    Entry begin(Origin origin, String deed, Optional<Tool.Subject> subject) {
        return new Entry(origin, deed, false, subject, JsonNodeFactory.instance.objectNode());
    }

    /** A call under way. */
    final class Entry {
        private final Origin origin;
        private final String tool;
        private final boolean ofTenant;
        private final Optional<Tool.Subject> subject;
        private final ObjectNode arguments;
        private final long begin = nanoTime.getAsLong();
        private volatile boolean created;

        private Entry(
                Origin origin, String tool, boolean ofTenant, Optional<Tool.Subject> subject, ObjectNode arguments) {
            this.origin = origin;
            this.tool = tool;
            this.ofTenant = ofTenant;
            this.subject = subject;
            this.arguments = arguments;
        }

        /** The same listener; the entry hears whether the call makes its sandbox. */
        OutputListener hearing(OutputListener progress) {
            return new OutputListener() {
                @Override
                public CompletionStage<?> output(long bytesSoFar, String text) {
                    return progress.output(bytesSoFar, text);
                }

                @Override
                public void doing(String what) {
                    progress.doing(what);
                }

                @Override
                public void created() {
                    created = true;
                    progress.created();
                }

                @Override
                public void queued(Duration atMost) {
                    progress.queued(atMost);
                }
            };
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
                    .addKeyValue("contract", origin.contract())
                    .addKeyValue("tool", tool)
                    .setCause(fault)
                    .log("Tool call failed by a fault of the gateway");
            write(FAULT, null);
        }

        private void write(String outcome, @Nullable String executionId) {
            Duration duration = Duration.ofNanos(nanoTime.getAsLong() - begin);
            timer(origin.contract(), tool, outcome).record(duration);
            LoggingEventBuilder line = AUDIT.atInfo()
                    .addKeyValue("caller", origin.caller().name())
                    .addKeyValue("source", origin.address())
                    .addKeyValue("contract", origin.contract())
                    .addKeyValue("tool", tool)
                    .addKeyValue("outcome", outcome)
                    .addKeyValue("duration_ms", duration.toMillis());
            line = withSandbox(line);
            line = withText(line, "delete");
            line = withDigest(line, "code");
            line = withDigest(line, "command");
            line = withDigest(line, "args");
            line = withDigest(line, "stdin");
            line = withDigest(line, "packages");
            line = withText(line, "action");
            line = withText(line, "path");
            line = withText(line, "name");
            line = withText(line, "server_name");
            line = withDigest(line, "url");
            line = withDigest(line, "content");
            if (executionId != null) {
                line = line.addKeyValue("execution_id", executionId);
            }
            line.log("tool call");
        }

        private LoggingEventBuilder withSandbox(LoggingEventBuilder line) {
            LoggingEventBuilder named = subject.isPresent()
                    ? line.addKeyValue(TENANT, McpError.shown(subject.get().namespace()))
                            .addKeyValue(SANDBOX, McpError.shown(subject.get().sandbox()))
                    : withText(withTenant(line), SANDBOX);
            return created ? named.addKeyValue("created", true) : named;
        }

        /** Names of sandboxes are of one tenant alone, so it is told too if the caller left his own out. */
        private LoggingEventBuilder withTenant(LoggingEventBuilder line) {
            JsonNode value = arguments.path(TENANT);
            boolean left = value.isMissingNode()
                    || value.isNull()
                    || (value.isString() && value.asString().isEmpty());
            return left && ofTenant ? line.addKeyValue(TENANT, access.own(origin.caller())) : withText(line, TENANT);
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
