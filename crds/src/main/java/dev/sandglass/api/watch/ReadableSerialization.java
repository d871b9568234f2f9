package dev.sandglass.api.watch;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.Watcher.Action;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what the API server sends, and goes on where something cannot be read. An informer lists again after an event that it
 * cannot read, as if the API server had answered 410 Gone; of a list it leaves out the objects that it cannot read. Both are
 * counted and logged, without their content.
 */
public final class ReadableSerialization extends KubernetesSerialization {

    private static final Logger LOG = LoggerFactory.getLogger(ReadableSerialization.class);

    private final ObjectMapper mapper;
    private final LongAdder unreadableEvents = new LongAdder();
    private final LongAdder unreadableObjects = new LongAdder();

    /** Reads whole objects. */
    public ReadableSerialization() {
        this(new ObjectMapper());
    }

    /**
     * Reads objects as that mapper does.
     *
     * @param mapper changed by this, and not to be changed by others any more
     */
    public ReadableSerialization(ObjectMapper mapper) {
        super(mapper, true);
        this.mapper = mapper;
        // managedFields has keys of lists as names, such as the uid of an owner, which the API server does not bound.
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNameLength(Integer.MAX_VALUE)
                        .build());
    }

    /**
     * Has watches know {@link Sandbox} and {@link SandboxToolServer}, so that an event whose object cannot be read is found
     * here and not behind it.
     */
    public ReadableSerialization knowingSandboxes() {
        registerKubernetesResource(Sandbox.class);
        registerKubernetesResource(SandboxToolServer.class);
        registerKubernetesResource(SandboxPool.class);
        return this;
    }

    /** Events of watches that could not be read until now. */
    public long unreadableEvents() {
        return unreadableEvents.sum();
    }

    /** Objects that were left out of lists until now, each as often as it was. */
    public long unreadableObjects() {
        return unreadableObjects.sum();
    }

    @Override
    public <T> T unmarshal(String text, Class<T> type) {
        return type == WatchEvent.class ? type.cast(event(text)) : super.unmarshal(text, type);
    }

    private WatchEvent event(String text) {
        try {
            WatchEvent event = super.unmarshal(text, WatchEvent.class);
            return isWhole(event) ? event : unreadable("it is no event of an object");
        } catch (RuntimeException e) {
            return unreadable(kindOf(e));
        }
    }

    private static boolean isWhole(WatchEvent event) {
        if (event == null
                || Arrays.stream(Action.values())
                        .noneMatch(known -> known.name().equals(event.getType()))) {
            return false;
        }
        return switch (Action.valueOf(event.getType())) {
            case ERROR -> event.getObject() instanceof Status;
            case BOOKMARK -> metadata(event).isPresent();
            case ADDED, MODIFIED, DELETED ->
                metadata(event)
                        .filter(metadata -> metadata.getName() != null && metadata.getUid() != null)
                        .isPresent();
        };
    }

    private static Optional<ObjectMeta> metadata(WatchEvent event) {
        return event.getObject() instanceof HasMetadata object
                ? Optional.ofNullable(object.getMetadata()).filter(metadata -> metadata.getResourceVersion() != null)
                : Optional.empty();
    }

    private WatchEvent unreadable(String cause) {
        unreadableEvents.increment();
        LOG.atWarn().addKeyValue("cause", cause).log("An event of a watch cannot be read, listing again");
        Status gone = new StatusBuilder()
                .withStatus("Failure")
                .withReason("Expired")
                .withCode(HttpURLConnection.HTTP_GONE)
                .withMessage("an event of the watch could not be read")
                .build();
        return new WatchEvent(gone, Action.ERROR.name());
    }

    @Override
    public <T> T unmarshal(InputStream in, TypeReference<T> type) {
        Class<?> raw = mapper.constructType(type.getType()).getRawClass();
        if (!KubernetesResourceList.class.isAssignableFrom(raw) || !in.markSupported()) {
            return super.unmarshal(in, type);
        }
        in.mark(Integer.MAX_VALUE);
        try {
            return super.unmarshal(in, type);
        } catch (RuntimeException e) {
            ObjectReader reader = mapper.readerFor(type);
            try {
                in.reset();
                if (!(mapper.readTree(in) instanceof ObjectNode whole)) {
                    throw e;
                }
                ReadableItems items = ReadableItems.of(whole, reader);
                items.leftOut().forEach(this::leaveOut);
                // Also where none was left out: of a field that stands twice, the tree has one, which may be readable.
                return reader.readValue(items.list());
            } catch (IOException again) {
                throw e;
            }
        }
    }

    private void leaveOut(JsonNode item) {
        unreadableObjects.increment();
        JsonNode metadata = item.path("metadata");
        LOG.atWarn()
                .addKeyValue("namespace", metadata.path("namespace").asText())
                .addKeyValue("name", metadata.path("name").asText())
                .log("An object of a list cannot be read and is left out");
    }

    /** Messages may have content. */
    private static String kindOf(RuntimeException problem) {
        Throwable first = problem;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first.getClass().getSimpleName();
    }
}
