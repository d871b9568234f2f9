package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.IpAddress;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One line per request under the logger {@code audit}: which sandbox, where to, the verdict and why, how many bytes. Paths,
 * header fields and bytes are never written. Meters count the same, without saying whose.
 */
final class Audit {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");

    private final MeterRegistry meters;
    private final Counter up;
    private final Counter down;
    private final Timer opening;

    Audit(MeterRegistry meters) {
        this.meters = meters;
        this.up = meters.counter("sandglass.egress.bytes", "direction", "up");
        this.down = meters.counter("sandglass.egress.bytes", "direction", "down");
        this.opening = meters.timer("sandglass.egress.opening");
    }

    /** A tunnel is open, so long after the request. */
    void opened(Duration after) {
        opening.record(after);
    }

    /** A request of which it is not known whose it is, or not what it asks for. */
    void refused(IpAddress source, Outcome outcome) {
        count(outcome, End.REFUSED);
        AUDIT.atInfo()
                .addKeyValue("source", source)
                .addKeyValue("verdict", outcome.code())
                .log("egress");
    }

    /** A tunnel is over. */
    void ended(Tunnel tunnel) {
        count(tunnel.outcome(), tunnel.reason());
        up.increment((double) tunnel.up());
        down.increment((double) tunnel.down());
        LoggingEventBuilder line = AUDIT.atInfo()
                .addKeyValue("sandbox", tunnel.client().sandbox())
                .addKeyValue("namespace", tunnel.client().namespace())
                .addKeyValue("sandbox_uid", tunnel.client().uid())
                .addKeyValue("host", tunnel.target().host())
                .addKeyValue("port", tunnel.target().port())
                .addKeyValue("verdict", tunnel.outcome().code());
        DomainRule rule = tunnel.rule();
        if (rule != null) {
            line = line.addKeyValue("rule", rule);
        }
        line.addKeyValue("end", tunnel.reason().code())
                .addKeyValue("bytes_up", tunnel.up())
                .addKeyValue("bytes_down", tunnel.down())
                .addKeyValue("duration_ms", tunnel.age().toMillis())
                .log("egress");
    }

    private void count(Outcome outcome, End end) {
        meters.counter("sandglass.egress.requests", "outcome", outcome.code(), "end", end.code())
                .increment();
    }
}
