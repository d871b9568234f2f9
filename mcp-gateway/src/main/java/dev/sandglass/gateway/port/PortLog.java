package dev.sandglass.gateway.port;

import dev.sandglass.gateway.caller.Attempts;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.port.message.Traffic;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One line per request under the logger {@code audit}: who used which port of which sandbox, how much moved and what came of
 * it; of whoever shows no key and no link only where he comes from ({@link Attempts}). Of the sandbox's own path, of headers and bodies nothing is written: they may hold secrets of whoever asks.
 */
final class PortLog {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");

    private final MeterRegistry meters;
    private final LongSupplier nanoTime;
    private final Attempts attempts;

    PortLog(MeterRegistry meters, LongSupplier nanoTime) {
        this.meters = meters;
        this.nanoTime = nanoTime;
        this.attempts = new Attempts(nanoTime);
    }

    Entry begin(PortPath path, String method, String source) {
        return new Entry(path, method, source);
    }

    /** A request under way. */
    final class Entry {
        private final PortPath path;
        private final String method;
        private final String source;
        private final long begin = nanoTime.getAsLong();
        private final Traffic traffic = new Traffic(nanoTime);
        private String caller = "";

        private Entry(PortPath path, String method, String source) {
            this.path = path;
            this.method = method;
            this.source = source;
        }

        Traffic traffic() {
            return traffic;
        }

        void by(String name) {
            caller = name;
        }

        /**
         * @param status that was answered, or 0 if the client went before
         */
        void end(int status) {
            Duration duration = Duration.ofNanos(nanoTime.getAsLong() - begin);
            meters.timer("sandglass.port.requests", "status", Integer.toString(status))
                    .record(duration);
            if (caller.isEmpty()) {
                attempts.refused(source, status);
                return;
            }
            AUDIT.atInfo()
                    .addKeyValue("caller", caller)
                    .addKeyValue("source", source)
                    .addKeyValue("namespace", path.tenant())
                    .addKeyValue("sandbox", path.sandbox())
                    .addKeyValue("port", path.port())
                    .addKeyValue("by_link", path.link() != null)
                    .addKeyValue("method", method)
                    .addKeyValue("status", status)
                    .addKeyValue("bytes", traffic.bytes())
                    .addKeyValue("duration_ms", duration.toMillis())
                    .log("port request");
        }
    }
}
