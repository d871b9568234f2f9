package dev.sandglass.api.watch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An informer on a real client, over HTTP: every text arrives as it is, and nothing that comes ends it. */
class ReadableWatchesTest {

    private static final int SOON = 20;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> TEXTS = List.of(
            "caf\u00e9",
            "\u6f22\u5b57\u2026\u2028\u2029",
            "\ud83c\udf27\udbff\udfff\ufffe\ufffd",
            "\u0001\u001b[31m\u0085\u009b\u202e\u200b\u007f",
            "\u00e9".repeat(64 * 1024));

    private final BlockingQueue<Sandbox> seen = new LinkedBlockingQueue<>();
    private final ReadableSerialization serialization = new ReadableSerialization().knowingSandboxes();
    private WatchedApi api;
    private KubernetesClient client;
    private SharedIndexInformer<Sandbox> informer;

    @BeforeEach
    void start() throws Exception {
        api = new WatchedApi();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(api.url())
                .withOnlyHttpWatches(true)
                .withWatchReconnectInterval(1)
                .build();
        client = new KubernetesClientBuilder()
                .withConfig(config)
                .withKubernetesSerialization(serialization)
                .withHttpClientBuilderConsumer(
                        http -> http.addOrReplaceInterceptor(AsciiWatches.NAME, new AsciiWatches()))
                .build();
        informer = client.resources(Sandbox.class).inNamespace("n").runnableInformer(0);
        informer.addEventHandler(new Seen(seen));
    }

    @AfterEach
    void stop() {
        informer.stop();
        client.close();
        api.close();
    }

    static Stream<Arguments> textsAndChunks() {
        return TEXTS.stream().flatMap(text -> Stream.of(1, 2, 3, 1021, 1 << 20)
                .filter(chunk -> chunk > 1000 || text.length() < 100)
                .map(chunk -> Arguments.of(text, chunk)));
    }

    @ParameterizedTest
    @MethodSource("textsAndChunks")
    void everyTextArrivesAsItIs(String text, int chunk) throws Exception {
        informer.start();
        api.awaitWatch();
        for (int turn = 2; turn < 5; turn++) {
            api.send(event("MODIFIED", sandbox(turn, text + turn)), chunk);

            assertThat(text(next())).isEqualTo(text + turn);
        }
        assertThat(api.lists()).as("lists").isEqualTo(1);
        assertThat(serialization.unreadableEvents()).isZero();
    }

    static Stream<String> unreadable() {
        return Stream.of(
                "no JSON at all",
                "\u0000\u0000{\"type\": \"BOOKMARK\"}",
                "{\"type\": \"MODIFIED\", \"object\": {\"kind\"",
                "{}",
                "null",
                "[]",
                "",
                "{\"type\": \"MODIFIED\"}",
                "{\"type\": null, \"object\": null}",
                "{\"type\": \"RENAMED\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"Pod\"}}",
                "{\"type\": \"ERROR\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"Pod\"}}",
                "{\"type\": \"MODIFIED\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"Status\", \"code\": 200}}",
                "{\"type\": \"MODIFIED\", \"object\": {\"apiVersion\": \"sandglass.dev/v1alpha1\", \"kind\": \"Sandbox\"}}",
                event("MODIFIED", sandbox(2, "x").replace("\"u-1\"", "null")),
                event("MODIFIED", sandbox(2, "x").replace("\"u-1\"", "{\"a\": [\"secret\"]}")),
                event("MODIFIED", sandbox(2, "x").replace("\"spec\": {", "\"spec\": {\"env\": \"secret\",")),
                event("MODIFIED", sandbox(2, "x").replace("\"spec\": {", "\"spec\": {\"ports\": [{\"port\": \"x\"}],")),
                "[".repeat(100_000),
                "{\"a\":".repeat(2000));
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("unreadable")
    void whatCannotBeReadIsListedAgain(String event) throws Exception {
        informer.start();
        api.awaitWatch();
        api.send(event("ADDED", sandbox(2, "first")), 100);
        assertThat(text(next())).isEqualTo("first");
        api.hold(sandbox(3, "listed"));

        api.send(event, 1000);

        assertThat(text(next())).isEqualTo("listed");
        api.awaitWatch();
        api.send(event("MODIFIED", sandbox(4, "watched")), 100);
        assertThat(text(next())).isEqualTo("watched");
        assertThat(serialization.unreadableEvents()).isEqualTo(1);
        assertThat(api.lists()).isEqualTo(2);
        assertThat(informer.isRunning()).isTrue();
    }

    @Test
    void anObjectOfAListThatCannotBeReadIsLeftOut() throws Exception {
        api.hold(
                sandbox(1, "x").replace("\"spec\": {", "\"spec\": {\"env\": 7,").replace("u-1", "u-0"),
                sandbox(1, "readable"));

        informer.start();

        assertThat(text(next())).isEqualTo("readable");
        assertThat(seen).isEmpty();
        assertThat(serialization.unreadableObjects()).isEqualTo(1);
    }

    @Test
    void anObjectOfAListWhoseFieldStandsTwiceIsReadByTheLast() throws Exception {
        api.hold(sandbox(1, "x").replace("\"spec\": {", "\"spec\": {\"env\": 7}, \"spec\": {"));

        informer.start();

        assertThat(text(next())).isEqualTo("x");
        assertThat(serialization.unreadableObjects()).isZero();
    }

    /** Who wrote which field is told by names, and the name of an owner's entry has its uid, which is not bounded. */
    @ParameterizedTest
    @ValueSource(ints = {50_001, 1_000_000})
    void aNameOfAnyLengthIsRead(int length) throws Exception {
        String fields = "\"managedFields\": [{\"fieldsV1\": {\"k:{%s}\": {}}}],".formatted("u".repeat(length));
        api.hold(sandbox(1, "listed").replace("\"metadata\": {", "\"metadata\": {" + fields));
        informer.start();
        assertThat(text(next())).isEqualTo("listed");
        api.awaitWatch();

        api.send(event("MODIFIED", sandbox(2, "watched").replace("\"metadata\": {", "\"metadata\": {" + fields)), 4096);

        assertThat(text(next())).isEqualTo("watched");
        assertThat(serialization.unreadableEvents() + serialization.unreadableObjects())
                .isZero();
    }

    private Sandbox next() throws InterruptedException {
        Sandbox next = seen.poll(SOON, TimeUnit.SECONDS);
        return Objects.requireNonNull(next, "no object within " + SOON + " s");
    }

    private static String text(Sandbox sandbox) {
        return Objects.requireNonNull(sandbox.getMetadata().getAnnotations().get("text"));
    }

    private static String event(String type, String object) {
        return "{\"type\": \"%s\", \"object\": %s}".formatted(type, object);
    }

    private static String sandbox(int version, String text) {
        return """
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "s", "namespace": "n",\
                 "uid": "u-1", "resourceVersion": "%d", "annotations": {"text": %s}}, "spec": {"memory": "1Gi"}}""".formatted(version, JSON.valueToTree(text));
    }

    private record Seen(BlockingQueue<Sandbox> seen) implements ResourceEventHandler<Sandbox> {

        @Override
        public void onAdd(Sandbox added) {
            seen.add(added);
        }

        @Override
        public void onUpdate(Sandbox before, Sandbox now) {
            seen.add(now);
        }

        @Override
        public void onDelete(Sandbox deleted, boolean finalStateUnknown) {}
    }
}
