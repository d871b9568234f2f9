package dev.sandglass.egress.denial;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Sandbox;
import dev.sandglass.egress.denial.DenialCounts.Notice;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes refusals as Events about the sandbox: one for each host, sandbox and minute, whichever replica comes first, since
 * their names say these three. So the right to create Events is enough, and none can be changed or removed with it. An
 * Event that cannot be written is given up.
 */
public final class DenialEvents implements Consumer<Denial>, AutoCloseable {

    /** Most Events that wait to be written. */
    static final int MAX_WAITING = 256;

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(DenialEvents.class);
    private static final int CONFLICT = 409;

    /** The API server takes exactly six digits. */
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesClient client;
    private final InstantSource clock;
    private final DenialCounts counts = new DenialCounts();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final ThreadPoolExecutor writer = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            Thread.ofVirtual().name("denial-events").factory(),
            new ThreadPoolExecutor.DiscardPolicy());

    /** Writes with that client, which its creator closes. */
    public DenialEvents(KubernetesClient client, InstantSource clock) {
        this.client = client;
        this.clock = clock;
    }

    /** Tells of a refusal, or counts it; by any thread, and without waiting. */
    @Override
    public void accept(Denial denial) {
        counts.add(denial, clock.instant()).ifPresent(this::writeLater);
    }

    /** Reports what was counted and not reported; to be called several times a minute. */
    public void tellTheRest() {
        counts.due(clock.instant()).forEach(this::writeLater);
    }

    private void writeLater(Notice notice) {
        writer.execute(() -> write(notice));
    }

    private void write(Notice notice) {
        try {
            client.resource(event(notice)).create();
            failing.set(false);
        } catch (KubernetesClientException e) {
            if (e.getCode() == CONFLICT) {
                counts.putBack(notice);
            } else if (!writer.isShutdown() && !failing.getAndSet(true)) {
                LOG.atWarn()
                        .addKeyValue("sandbox", notice.last().sandbox())
                        .addKeyValue("namespace", notice.last().namespace())
                        .addKeyValue("cause", ForeignText.line(String.valueOf(e.getMessage()), MAX_CAUSE_CHARS))
                        .log("An Event could not be written; those that follow are given up silently");
            }
        }
    }

    static Event event(Notice notice) {
        Denial last = notice.last();
        String target = last.host() + ":" + last.port();
        String what =
                String.join("|", last.sandboxUid(), target, notice.minute().toString());
        UUID digest = UUID.nameUUIDFromBytes(what.getBytes(StandardCharsets.UTF_8));
        return new EventBuilder()
                .withNewMetadata()
                .withName(last.sandbox() + "." + digest)
                .withNamespace(last.namespace())
                .endMetadata()
                .withEventTime(new MicroTime(MICROS.format(last.time())))
                .withReportingController("sandglass.dev/egress-proxy")
                .withReportingInstance("egress-proxy")
                .withAction("Refuse")
                .withType("Warning")
                .withReason("EgressDenied")
                .withNote(note(last, target, notice.count()))
                .withNewRegarding()
                .withApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION)
                .withKind("Sandbox")
                .withNamespace(last.namespace())
                .withName(last.sandbox())
                .withUid(last.sandboxUid())
                .endRegarding()
                .build();
    }

    private static String note(Denial denial, String target, int count) {
        String often = count == 1 ? "" : " " + count + " times";
        String remedy = denial.reason().equals("not-allowed")
                ? "add it to spec.allowedDomains if the sandbox is to reach it"
                : "it leads to an address that only the installation can open";
        return "The egress proxy refused %s%s (%s): %s".formatted(target, often, denial.reason(), remedy);
    }

    @Override
    public void close() {
        writer.shutdownNow();
    }
}
