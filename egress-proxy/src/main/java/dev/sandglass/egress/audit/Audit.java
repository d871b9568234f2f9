package dev.sandglass.egress.audit;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.denial.Failure;
import dev.sandglass.egress.denial.Unreached;
import dev.sandglass.egress.tunnel.End;
import dev.sandglass.egress.tunnel.Outcome;
import dev.sandglass.egress.tunnel.Tunnel;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One line per request under the logger {@code audit}: which sandbox, where to, the verdict and why, how many bytes. Paths,
 * header fields and bytes are never written. Meters count the same, without saying whose. Targets that
 * the rules refuse, or that are not connected to, are told besides.
 */
public final class Audit {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");

    private final MeterRegistry meters;
    private final Consumer<Unreached> unreached;
    private final Counter up;
    private final Counter down;
    private final Timer opening;

    public Audit(MeterRegistry meters, Consumer<Unreached> unreached) {
        this.meters = meters;
        this.unreached = unreached;
        this.up = meters.counter("sandglass.egress.bytes", "direction", "up");
        this.down = meters.counter("sandglass.egress.bytes", "direction", "down");
        this.opening = meters.timer("sandglass.egress.opening");
    }

    /** A tunnel is open, so long after the request. */
    public void opened(Duration after) {
        opening.record(after);
    }

    /** A request of which it is not known whose it is, or not what it asks for. */
    public void refused(IpAddress source, Outcome outcome) {
        count(outcome, End.REFUSED);
        AUDIT.atInfo()
                .addKeyValue("source", source)
                .addKeyValue("verdict", outcome.code())
                .log("egress");
    }

    /** A name that a sandbox asked DNS for and does not reach; reported with the port that it most likely wanted. */
    public void nameRefused(Client client, HostName name) {
        unreached.accept(new Denial(
                client.uid(),
                client.namespace(),
                client.sandbox(),
                name.value(),
                DomainRule.HTTPS,
                Outcome.NOT_ALLOWED.code(),
                Instant.now()));
        AUDIT.atInfo()
                .addKeyValue("sandbox", client.sandbox())
                .addKeyValue("namespace", client.namespace())
                .addKeyValue("sandbox_uid", client.uid())
                .addKeyValue("host", name)
                .addKeyValue("verdict", Outcome.NOT_ALLOWED.code())
                .log("egress-dns");
    }

    /** An allowed target to which no connection was made, and why. */
    public void failed(Tunnel tunnel, String why) {
        unreached.accept(new Failure(
                tunnel.client().uid(),
                tunnel.client().namespace(),
                tunnel.client().sandbox(),
                tunnel.target().host().toString(),
                tunnel.target().port(),
                why,
                Instant.now()));
    }

    /** A tunnel is over. */
    public void ended(Tunnel tunnel) {
        if (tunnel.outcome() == Outcome.NOT_ALLOWED || tunnel.outcome() == Outcome.ADDRESS_DENIED) {
            unreached.accept(new Denial(
                    tunnel.client().uid(),
                    tunnel.client().namespace(),
                    tunnel.client().sandbox(),
                    tunnel.target().host().toString(),
                    tunnel.target().port(),
                    tunnel.outcome().code(),
                    Instant.now()));
        }
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
