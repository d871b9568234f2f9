package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import io.micrometer.core.instrument.MeterRegistry;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One line for each call under the logger {@code audit}: the code of which sandbox called which tool, and what came of it.
 * Of arguments only digest and length are written, of results nothing. Of calls that are refused, a sandbox has at most one
 * line a second, which says how many others there were: code may call as often as it likes.
 */
final class ToolCallLog {

    /** Of a call that is answered. */
    static final String OK = "ok";

    /** Of one that its caller gave up. */
    static final String CANCELLED = "cancelled";

    /** Of one that failed by a fault of the gateway. */
    static final String FAULT = "fault";

    private static final String METER = "sandglass.tool.server.calls";
    private static final Logger AUDIT = LoggerFactory.getLogger("audit");
    private static final long PACE = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_PACED = 4096;

    private final MeterRegistry meters;
    private final LongSupplier nanoTime;
    private final Recent<Pace> paces = new Recent<>(MOST_PACED);

    ToolCallLog(MeterRegistry meters, LongSupplier nanoTime) {
        this.meters = meters;
        this.nanoTime = nanoTime;
        // In a counter that begins with its first one, nobody sees an increase.
        meters.timer(METER, "kind", "none", "outcome", FAULT);
    }

    /** When a sandbox may have its next line of a refusal, and how many it had none of. */
    private static final class Pace {
        private long next;
        private long untold;
    }

    /**
     * Notes the begin of a call.
     *
     * @param execution in whose name, as code says it
     * @param asked what for
     */
    Entry begin(SharedServers.Asker asker, String execution, Asked asked) {
        return new Entry(asker, execution, asked, nanoTime.getAsLong());
    }

    /** Counts what no sandbox of ours asked, or what is not told of. */
    void count(String kind, String outcome, Duration duration) {
        meters.timer(METER, "kind", kind, "outcome", outcome).record(duration);
    }

    /** How many refusals of that sandbox had no line; empty if this one has none either. */
    private synchronized Optional<Long> untold(String sandboxUid) {
        long now = nanoTime.getAsLong();
        Pace pace = paces.get(sandboxUid).orElse(null);
        if (pace == null) {
            pace = new Pace();
            pace.next = now;
            paces.put(sandboxUid, pace);
        }
        if (now - pace.next < 0) {
            pace.untold++;
            return Optional.empty();
        }
        long before = pace.untold;
        pace.next = now + PACE;
        pace.untold = 0;
        return Optional.of(before);
    }

    /** A call under way; it is ended once. */
    final class Entry {
        private final SharedServers.Asker asker;
        private final String execution;
        private final Asked asked;
        private final long begin;
        private String kind = "none";

        private Entry(SharedServers.Asker asker, String execution, Asked asked, long begin) {
            this.asker = asker;
            this.execution = execution;
            this.asked = asked;
            this.begin = begin;
        }

        /** The server is there, and may be used. */
        void of(SharedServer server) {
            kind = server.kind();
        }

        /** How it ended, in one word. */
        void end(String outcome) {
            Duration duration = Duration.ofNanos(nanoTime.getAsLong() - begin);
            count(kind, outcome, duration);
            if (!CallProblem.isRefusal(outcome)) {
                write(outcome, duration, 0);
                return;
            }
            untold(asker.uid()).ifPresent(others -> write(outcome, duration, others));
        }

        private void write(String outcome, Duration duration, long others) {
            LoggingEventBuilder line = AUDIT.atInfo()
                    .addKeyValue("namespace", asker.namespace())
                    .addKeyValue("sandbox", asker.name())
                    .addKeyValue("execution_id", shown(execution));
            line = switch (asked) {
                case Asked.Call call ->
                    withArguments(
                            line.addKeyValue("server", shown(call.server())).addKeyValue("tool", shown(call.tool())),
                            call.arguments());
                case Asked.Tools tools -> line.addKeyValue("server", shown(tools.server()));
                case Asked.Servers _ -> line;
            };
            line = line.addKeyValue("outcome", outcome).addKeyValue("duration_ms", duration.toMillis());
            if (others > 0) {
                line = line.addKeyValue("others", others);
            }
            line.log(asked instanceof Asked.Call ? "tool server call" : "tool server list");
        }
    }

    private static LoggingEventBuilder withArguments(LoggingEventBuilder line, Blob arguments) {
        return line.addKeyValue("arguments_sha256", sha256(arguments.bytes()))
                .addKeyValue("arguments_bytes", arguments.length());
    }

    private static String shown(String text) {
        return ForeignText.ascii(ForeignText.line(text, Asked.MAX_NAME), Asked.MAX_NAME);
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
