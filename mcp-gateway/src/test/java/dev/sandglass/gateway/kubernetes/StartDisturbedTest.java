package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Somebody else deletes or changes a sandbox that is just being started. */
@SuppressWarnings("NullAway.Init")
class StartDisturbedTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private final KubernetesClient client = server.client();
    private KubernetesSandboxes sandboxes;
    private FakeOperator operator;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(client);
        operator = new FakeOperator(client, REF);
        sandboxes = new KubernetesSandboxes(
                client, List.of("sandglass-default"), SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    private void follow() {
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    private CompletableFuture<RunningSandbox> startedByAlice() {
        var start =
                sandboxes.start(REF, SandboxConfig.UNCHANGED, "alice", () -> {}).toFuture();
        await().atMost(SOON).until(() -> at().get() != null);
        return start;
    }

    private Resource<Sandbox> at() {
        return client.resources(Sandbox.class).inNamespace(REF.namespace()).withName(REF.name());
    }

    /** A finalizer, of {@code kubectl delete --cascade=foreground} or of somebody else, keeps what is deleted for a while. */
    @Test
    void aSandboxThatIsBeingDeletedIsToldAtOnceAndNotWaitedFor() {
        follow();
        Sandbox held = SandboxWrites.created(REF, SandboxConfig.UNCHANGED, "alice");
        held.getMetadata().setFinalizers(List.of("example.com/hold"));
        client.resource(held).create();
        client.resource(held).delete();
        assertThat(at().get().isMarkedForDeletion()).isTrue();

        assertThat(sandboxes
                        .start(REF, SandboxConfig.UNCHANGED, "bob", () -> {})
                        .toFuture())
                .failsWithin(SOON)
                .withThrowableThat()
                .withMessageContaining("cannot start (Deleted): it is being deleted, and is gone when its finalizers"
                        + " (example.com/hold) are.");
    }

    private static void isToldDeleted(CompletableFuture<RunningSandbox> start) {
        assertThat(start)
                .failsWithin(SOON)
                .withThrowableThat()
                .withMessageContaining("cannot start (Deleted): somebody deleted it while it was starting");
    }

    @Test
    void whoWaitsForADeletedOneIsToldAtOnce() {
        follow();
        var start = startedByAlice();
        await().atMost(SOON).until(() -> sandboxes.find(REF).isPresent());

        at().delete();

        isToldDeleted(start);
    }

    @Test
    void anotherOneOfThatNameIsNotTheOneThatWasStarted() {
        follow();
        var start = startedByAlice();
        await().atMost(SOON).until(() -> sandboxes.find(REF).isPresent());

        at().delete();
        sandboxes.start(REF, SandboxConfig.UNCHANGED, "bob", () -> {}).subscribe(ready -> {}, never -> {});

        isToldDeleted(start);
    }

    /** The cache knows nothing, as when it follows late and what was made is gone by then. */
    @Test
    void oneThatTheCacheNeverSawIsLookedFor() {
        var start = startedByAlice();

        at().delete();

        isToldDeleted(start);
    }

    @Tag("slow")
    @Test
    void aCacheThatFollowsLateIsWaitedFor() {
        operator.answersWithReady();
        var start = startedByAlice();
        assertThatThrownBy(() -> start.get(3, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);

        follow();

        assertThat(start).succeedsWithin(SOON);
    }

    /** The second caller gave it a wish that can be met, and waits for it. */
    @Test
    void aStartThatFailsForGoodLeavesWhatAnotherOneCorrected() {
        follow();
        var start = startedByAlice();
        var corrected = new SandboxConfig(null, "1Gi", null, null, null);
        sandboxes.start(REF, corrected, "bob", () -> {}).subscribe(ready -> {}, never -> {});
        await().atMost(SOON).until(() -> operator.resource().wanted().memory() != null);

        operator.ended("InvalidSpec", "one of its hosts is not public");

        assertThat(start).failsWithin(SOON).withThrowableThat().withMessageContaining("one of its hosts");

        assertThat(operator.resource().wanted().memory()).hasToString("1Gi");
    }

    /** Between the look and the change of one start another one is undone. */
    @Test
    void whoFindsItGoneWhenHeChangesItMakesItAnew() {
        follow();
        var _ = startedByAlice();
        var orders = new SandboxOrders(client, _ -> true);
        Sandbox seen = at().require();
        at().delete();

        assertThat(orders.changed(seen, new SandboxConfig(null, "1Gi", null, null, null)))
                .isEmpty();
        assertThat(orders.start(REF, new SandboxConfig(null, "1Gi", null, null, null), "bob")
                        .isNew())
                .isTrue();
    }

    /** It was made in the moment between the look at the cache and the order. */
    @Test
    void oneThatIsNotSeenAndIsThereIsChanged() {
        var orders = new SandboxOrders(client, _ -> true);
        client.resource(SandboxWrites.created(REF, SandboxConfig.UNCHANGED, "alice"))
                .create();
        SandboxOrders.Started started =
                orders.start(REF, new SandboxConfig(null, "1Gi", null, null, null), "bob", true);
        assertThat(started.isNew()).isFalse();
        assertThat(started.resource().wanted().memory()).hasToString("1Gi");
    }

    @Test
    void oneThatIsNotSeenIsMadeWithoutALook() throws Exception {
        var orders = new SandboxOrders(client, _ -> true);
        int before = server.server().getRequestCount();
        assertThat(orders.start(REF, SandboxConfig.UNCHANGED, "alice", true).isNew())
                .isTrue();
        assertThat(server.server().getRequestCount() - before).isEqualTo(1);
    }
}
