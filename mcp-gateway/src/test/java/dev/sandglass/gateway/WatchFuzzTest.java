package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.watch.AsciiWatches;
import dev.sandglass.api.watch.ReadableSerialization;
import dev.sandglass.gateway.testing.AnyText;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Whatever the API server sends to those who watch, however it was cut on its way: JSON stays the same JSON, what can be read
 * is read as it is, and what cannot ends nothing.
 */
class WatchFuzzTest {

    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNameLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    private static final HttpRequest WATCH = new StandardHttpRequest.Builder()
            .uri("http://127.0.0.1/api/v1/pods?watch=true")
            .build();
    private static final int SHORT = 200;
    private static final int GONE = 410;
    private static final TypeReference<DefaultKubernetesResourceList<Sandbox>> LIST = new TypeReference<>() {};
    private static final Logger LOG = (Logger) LoggerFactory.getLogger(ReadableSerialization.class);

    private static final AsyncBody NO_BODY = new AsyncBody() {
        @Override
        public void consume() {}

        @Override
        public CompletableFuture<Void> done() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void cancel() {}
    };

    private final ReadableSerialization serialization = new ReadableSerialization().knowingSandboxes();

    @BeforeEach
    void silence() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void speak() {
        LOG.setLevel(null);
    }

    /** Objects, and behind each a text for it. */
    private static List<List<byte[]>> corpus() {
        return Stream.of(
                        "plain",
                        "café…",
                        "\u2028\u202e\u009b\ufeff",
                        "🌧\udbff\udfff",
                        "\"\\u00e9\\ud83d\\ude00\\ud800\"")
                .flatMap(text -> Stream.of(sandbox("u-1", text), pod(text)).map(object -> Stream.of(object, text)
                        .map(part -> part.getBytes(StandardCharsets.UTF_8))
                        .toList()))
                .toList();
    }

    @Tag("slow")
    @Test
    void anyBytesInAnyChunks() throws IOException {
        Fuzz.attack(FrameMutator::new, "ascii", corpus(), message -> {
            AnyText texts = AnyText.of(message);
            byte[] json = JSON.writeValueAsBytes(List.of(texts.whole(), texts.whole()));
            assertThat(JSON.readTree(received(json, texts.dice()))).isEqualTo(JSON.readTree(json));
            byte[] lines = (new String(message.isEmpty() ? json : message.getFirst(), StandardCharsets.ISO_8859_1)
                            + "\n")
                    .getBytes(StandardCharsets.ISO_8859_1);
            isTheSame(lines, received(lines, texts.dice()));
            for (int at = 0; lines.length < SHORT && at <= lines.length; at++) {
                isTheSame(lines, received(lines, List.of(at)));
            }
        });
    }

    @Tag("slow")
    @Test
    void anyEventOfAWatch() throws IOException {
        Fuzz.attack(FrameMutator::new, "event", corpus(), message -> {
            AnyText texts = AnyText.of(message);
            String text = texts.whole();
            String good = event("MODIFIED", sandbox("u-1", text));
            byte[] sent = good.getBytes(StandardCharsets.UTF_8);
            assertThat(textOf(read(received(sent, texts.dice())))).isEqualTo(text);
            for (byte[] frame : message) {
                String object = new String(frame, StandardCharsets.UTF_8);
                examine(object);
                examine(event("ADDED", object));
                examine(event("BOOKMARK", object));
                examine(event(text, object));
            }
            assertThat(textOf(read(good))).as("behind all of those").isEqualTo(text);
        });
    }

    /** A neighbour that can be read is there, whatever stands beside it. */
    @Test
    void anyObjectOfAList() throws IOException {
        Fuzz.attack(FrameMutator::new, "list", corpus(), message -> {
            String text = AnyText.of(message).whole();
            String odd = message.isEmpty() ? "{}" : new String(message.getFirst(), StandardCharsets.UTF_8);
            String list =
                    "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s,%s,%s]}"
                            .formatted(sandbox("u-1", text), odd, sandbox("u-3", text));
            long before = serialization.unreadableObjects();
            Optional<List<Sandbox>> read = listed(list);
            if (parsed(odd).isEmpty() || !isJson("[    " + odd + "]")) {
                return;
            }
            List<Sandbox> items = read.orElseThrow();
            assertThat(items).hasSize(3 - (int) (serialization.unreadableObjects() - before));
            assertThat(List.of(items.getFirst(), items.getLast()))
                    .allSatisfy(one ->
                            assertThat(one.getMetadata().getAnnotations()).containsEntry("text", text));
        });
    }

    /** Of a list that is none, the client hears by the exception that it handles. */
    private Optional<List<Sandbox>> listed(String list) {
        try {
            return Optional.of(serialization
                    .unmarshal(new ByteArrayInputStream(list.getBytes(StandardCharsets.UTF_8)), LIST)
                    .getItems());
        } catch (RuntimeException unreadable) {
            return Optional.empty();
        }
    }

    /** An event as the client reads it, or word that it is to list again; and the second is counted. */
    private void examine(String event) {
        long before = serialization.unreadableEvents();
        WatchEvent read = read(event);
        if (serialization.unreadableEvents() > before) {
            assertThat(read.getType()).isEqualTo("ERROR");
            assertThat(((Status) read.getObject()).getCode()).isEqualTo(GONE);
        } else if (read.getObject() instanceof HasMetadata object) {
            JsonNode metadata = begin(event).path("object").path("metadata");
            JsonNode texts = metadata.path("annotations");
            Map<String, String> annotations = object.getMetadata().getAnnotations();
            assertThat(annotations == null ? 0 : annotations.size()).isEqualTo(texts.size());
            if (annotations != null) {
                annotations.forEach(
                        (name, text) -> assertThat(JSON.valueToTree(text).asText())
                                .isEqualTo(texts.path(name).asText()));
            }
            assertThat(object.getMetadata().getResourceVersion())
                    .isEqualTo(metadata.path("resourceVersion").asText());
        } else {
            assertThat(read.getObject()).isInstanceOf(Status.class);
        }
    }

    /** The client reads one value and not what may stand behind it. */
    private static JsonNode begin(String event) {
        try {
            return JSON.reader()
                    .without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .readTree(event);
        } catch (JsonProcessingException noJson) {
            throw new AssertionError("an event that is no JSON was read", noJson);
        }
    }

    private WatchEvent read(String event) {
        return serialization.unmarshal(event, WatchEvent.class);
    }

    private static String textOf(WatchEvent event) {
        return String.valueOf(
                ((HasMetadata) event.getObject()).getMetadata().getAnnotations().get("text"));
    }

    /** Each character as its escape, and the value of what is JSON the same. */
    private static void isTheSame(byte[] sent, String received) {
        StringBuilder expected = new StringBuilder();
        String text = new String(sent, StandardCharsets.UTF_8);
        text.chars()
                .forEach(letter -> expected.append(letter < 0x80 ? "" + (char) letter : "\\u%04x".formatted(letter)));
        assertThat(received).isEqualTo(expected.toString());
        parsed(text).ifPresent(value -> assertThat(parsed(received)).contains(value));
    }

    private static Optional<JsonNode> parsed(String text) {
        try {
            return Optional.of(JSON.readTree(text)).filter(value -> !value.isMissingNode());
        } catch (JsonProcessingException noJson) {
            return Optional.empty();
        }
    }

    /**
     * Whether it is JSON in UTF-8 too. Half a character in the name of a field is JSON as text alone, and the API server, which
     * is written in Go, cannot send one.
     */
    private static boolean isJson(String text) throws IOException {
        try {
            JSON.readTree(text.getBytes(StandardCharsets.UTF_8));
            return true;
        } catch (JsonProcessingException notInBytes) {
            return false;
        }
    }

    private static String received(byte[] sent, RandomGenerator dice) throws Exception {
        List<Integer> borders = new ArrayList<>();
        int most = List.of(1, 2, 3, 8, 1024, sent.length + 1).get(dice.nextInt(6));
        for (int at = dice.nextInt(most + 1); at < sent.length; at += 1 + dice.nextInt(most)) {
            borders.add(at);
        }
        return received(sent, borders);
    }

    /** What the client makes of the chunks, each of which it takes for a text of its own, to the end of its array. */
    private static String received(byte[] sent, List<Integer> borders) throws Exception {
        StringBuilder text = new StringBuilder();
        AsyncBody.Consumer<List<ByteBuffer>> consumer = new AsciiWatches()
                .consumer(
                        (chunks, _) -> chunks.forEach(chunk ->
                                text.append(StandardCharsets.UTF_8.decode(chunk).array())),
                        WATCH);
        int from = 0;
        List<ByteBuffer> chunks = new ArrayList<>();
        for (int border : borders) {
            chunks.add(ByteBuffer.wrap(sent, from, border - from));
            from = border;
            if (chunks.size() == 3) {
                consumer.consume(List.copyOf(chunks), NO_BODY);
                chunks.clear();
            }
        }
        chunks.add(ByteBuffer.wrap(sent, from, sent.length - from));
        consumer.consume(chunks, NO_BODY);
        return text.toString();
    }

    private static String event(String type, String object) {
        return "{\"type\": %s, \"object\": %s}".formatted(JSON.valueToTree(type), object);
    }

    private static String sandbox(String uid, String text) {
        return """
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "s", "namespace": "n",\
                 "uid": "%s", "resourceVersion": "7", "annotations": {"text": %s}}, "spec": {"memory": "1Gi",\
                 "env": [{"name": "A", "value": "b"}]}}""".formatted(uid, JSON.valueToTree(text));
    }

    private static String pod(String text) {
        return """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n", "uid": "u-2",\
                 "resourceVersion": "8", "annotations": {"text": %1$s}}, "status": {"message": %1$s}}""".formatted(JSON.valueToTree(text));
    }
}
