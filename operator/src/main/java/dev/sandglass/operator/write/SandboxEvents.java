package dev.sandglass.operator.write;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.lifecycle.Notice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Events about sandboxes and tool servers. The same cause of the same incarnation is one Event, whose series counts; it is written
 * at most once a minute. An Event that cannot be written is logged and given up: the status says the same.
 */
public final class SandboxEvents {

    static final int MAX_SERIES = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(SandboxEvents.class);
    private static final Duration PAUSE = Duration.ofMinutes(1);
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    /** The API server takes exactly six digits. */
    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

    private final KubernetesClient client;
    private final Map<String, Series> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Series> eldest) {
            return size() > MAX_SERIES;
        }
    };

    /** How often an Event happened, and when that was last written. */
    private record Series(int count, Instant written) {}

    public SandboxEvents(KubernetesClient client) {
        this.client = client;
    }

    /**
     * Writes what there is to tell, or counts it.
     *
     * @param incarnation of a sandbox's pod; 0 for what has none
     */
    public void tell(HasMetadata subject, int incarnation, Notice notice, Instant now) {
        String name = subject.getMetadata().getName() + "." + digest(subject, incarnation, notice);
        try {
            Series series = count(name, now);
            if (series.count() == 1) {
                create(event(subject, name, notice, now), now);
            } else if (series.written().equals(now)) {
                patch(event(subject, name, notice, now), series, now);
            }
        } catch (KubernetesClientException e) {
            forget(name);
            LOG.atInfo()
                    .addKeyValue(subject.getSingular(), subject.getMetadata().getName())
                    .addKeyValue("namespace", subject.getMetadata().getNamespace())
                    .addKeyValue("uid", subject.getMetadata().getUid())
                    .addKeyValue("reason", notice.reason())
                    .addKeyValue("cause", ApiErrors.briefly(e))
                    .log("An Event could not be written");
        }
    }

    /** Counts one more; {@code written} is now if it is to be written. */
    private synchronized Series count(String name, Instant now) {
        return known.merge(name, new Series(1, now), (series, one) -> {
            boolean due = !now.isBefore(series.written().plus(PAUSE));
            return new Series(series.count() + 1, due ? now : series.written());
        });
    }

    private synchronized void forget(String name) {
        known.remove(name);
    }

    private synchronized void set(String name, Series series) {
        known.put(name, series);
    }

    private void create(Event event, Instant now) {
        try {
            client.resource(event).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT) {
                throw e;
            }
            // Another process wrote it; how often it saw the same is not worth a question.
            Series second = new Series(2, now);
            set(event.getMetadata().getName(), second);
            patch(event, second, now);
        }
    }

    private void patch(Event event, Series series, Instant now) {
        String change = "{\"series\": {\"count\": %d, \"lastObservedTime\": \"%s\"}}"
                .formatted(series.count(), MICROS.format(now));
        try {
            client.resource(event).patch(PatchContext.of(PatchType.JSON_MERGE), change);
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                throw e;
            }
            // Events are kept for an hour or so.
            set(event.getMetadata().getName(), new Series(1, now));
            client.resource(event).create();
        }
    }

    private static Event event(HasMetadata subject, String name, Notice notice, Instant now) {
        return new EventBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(subject.getMetadata().getNamespace())
                .endMetadata()
                .withEventTime(new MicroTime(MICROS.format(now)))
                .withReportingController("sandglass.dev/operator")
                .withReportingInstance(SandboxLabels.OPERATOR)
                .withAction("Reconcile")
                .withType(notice.warning() ? "Warning" : "Normal")
                .withReason(notice.reason())
                .withNote(notice.note())
                .withNewRegarding()
                .withApiVersion(subject.getApiVersion())
                .withKind(subject.getKind())
                .withName(subject.getMetadata().getName())
                .withNamespace(subject.getMetadata().getNamespace())
                .withUid(subject.getMetadata().getUid())
                .endRegarding()
                .build();
    }

    private static String digest(HasMetadata subject, int incarnation, Notice notice) {
        String identity = subject.getMetadata().getUid() + "/" + incarnation + "/" + notice.reason();
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(identity.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 8);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
