package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.equalTo;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.test.StepVerifier;

/** What the cache says while the API server already knows better. */
class FreshLookTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    private final AheadOfItsWatches api = new AheadOfItsWatches();

    @RegisterExtension
    final MockApi server = new MockApi(api);

    private final KubernetesClient client = server.client();
    private KubernetesSandboxes sandboxes;

    @BeforeEach
    void start() {
        client.resource(sandbox("False", Reason.STARTING.value(), null)).create();
        sandboxes = new KubernetesSandboxes(
                client, List.of(REF.namespace()), SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        sandboxes.start();
        // The cache has it a moment before it says that it has all.
        await().atMost(SOON)
                .until(() -> sandboxes.isSynced() && sandboxes.find(REF).isPresent());
        api.reads.set(0);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    @Test
    void aSandboxThatBecameReadyUnseenIsNotRefused() {
        api.answersReadsWith(sandbox("True", "Running", "10.0.0.7"));

        RunningSandbox running = Objects.requireNonNull(sandboxes.running(REF).block(SOON), "nothing found");

        assertThat(running.address()).isEqualTo("10.0.0.7");
        assertThat(sandboxes.find(REF)).as("what the cache still says").containsInstanceOf(SandboxState.Pending.class);
    }

    @Test
    void oneThatIsNotReadyIsRefusedAfterThatLook() {
        StepVerifier.create(sandboxes.running(REF))
                .expectErrorSatisfies(problem -> assertThat(problem)
                        .isInstanceOf(SandboxProblem.NotRunning.class)
                        .hasMessageContaining("it is still starting"))
                .verify(SOON);

        assertThat(api.reads).as("looks at the API server").hasValue(1);
    }

    @Test
    void aStartOfOneThatWasStoppedUnseenStartsIt() {
        client.resource(sandbox("True", "Running", "10.0.0.7")).update();
        await().atMost(SOON).until(() -> sandboxes.find(REF).orElseThrow() instanceof SandboxState.Running);
        Sandbox stopped = sandbox("True", "Running", "10.0.0.7");
        SandboxSpec spec = SandboxSpec.DEFAULT;
        stopped.setSpec(new SandboxSpec(spec.image(), spec.memory(), spec.cpus(), spec.disk(), spec.env(), true));
        api.answersReadsWith(stopped);

        Disposable start =
                sandboxes.start(REF, SandboxConfig.UNCHANGED, "bob", () -> {}).subscribe();

        await("an order to start").atMost(SOON).untilAtomic(api.patches, equalTo(1));
        start.dispose();
    }

    /** An execution's id tells UID and incarnation, and no name. */
    private Optional<SandboxState> byUid(String uid, int incarnation) {
        return Objects.requireNonNull(sandboxes
                .findByUid("default", REF.namespace(), uid, incarnation)
                .block(SOON));
    }

    private void cacheShowsRunning(int incarnation) {
        client.resource(running("box", "uid-box", incarnation)).update();
        await().atMost(SOON)
                .until(() -> sandboxes.find(REF).orElseThrow() instanceof SandboxState.Running(RunningSandbox now)
                        && now.incarnation() == incarnation);
        api.reads.set(0);
    }

    @Test
    void anIncarnationThatBecameReadyUnseenIsFound() {
        api.answersReadsWith(running("box", "uid-box", 1));

        assertThat(byUid("uid-box", 1)).containsInstanceOf(SandboxState.Running.class);
    }

    /** The incarnation that the cache shows needs no look, nor does one that it has seen replaced. */
    @ParameterizedTest
    @CsvSource({"1, 0, 2", "2, 0, 2", "3, 1, 3"})
    void onlyAnIncarnationThatIsNotSeenYetIsLookedFor(int asked, int looks, int found) {
        cacheShowsRunning(2);
        api.answersReadsWith(running("box", "uid-box", 3));

        assertThat(byUid("uid-box", asked)).hasValueSatisfying(state -> assertThat(state)
                .isInstanceOfSatisfying(
                        SandboxState.Running.class,
                        running -> assertThat(running.sandbox().incarnation()).isEqualTo(found)));
        assertThat(api.reads).as("looks at the API server").hasValue(looks);
    }

    @Test
    void aUidWhoseNameHasPassedToAnotherIsGone() {
        api.answersReadsWith(running("box", "uid-other", 1));

        assertThat(byUid("uid-box", 1)).isEmpty();
    }

    @Test
    void aUidThatIsSeenAMomentLaterIsFound() {
        Sandbox other = running("other", "uid-other", 1);

        CompletableFuture<Optional<SandboxState>> found =
                sandboxes.findByUid("default", REF.namespace(), "uid-other", 1).toFuture();
        client.resource(other).create();

        assertThat(found.join())
                .hasValueSatisfying(state -> assertThat(state.ref().name()).isEqualTo("other"));
    }

    @Tag("slow")
    @Test
    void aUidThatNobodyKnowsIsGoneAfterAMoment() {
        Duration took = StepVerifier.create(sandboxes.findByUid("default", REF.namespace(), "uid-other", 1))
                .expectNext(Optional.empty())
                .expectComplete()
                .verify(SOON);

        assertThat(took).isGreaterThanOrEqualTo(KubernetesSandboxes.CACHE_LAG);
    }

    @Test
    void nothingIsGoneBeforeTheSandboxesWereRead() {
        try (var unread = new KubernetesSandboxes(
                client, List.of(REF.namespace()), SETTINGS, DefaultDomains.NONE, Clock.systemUTC())) {
            StepVerifier.create(unread.findByUid("default", REF.namespace(), "uid-box", 1))
                    .expectError(SandboxProblem.Unavailable.class)
                    .verify(SOON);
        }
    }

    private static Sandbox running(String name, String uid, int incarnation) {
        Sandbox sandbox = sandbox("True", "Running", "10.0.0.7");
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setUid(uid);
        SandboxStatus first = sandbox.observed();
        sandbox.setStatus(new SandboxStatus(
                1L, first.conditions(), first.address(), "pod", incarnation, null, null, null, null, null, null));
        return sandbox;
    }

    private static Sandbox sandbox(String ready, String reason, @Nullable String address) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(REF.name())
                .withNamespace(REF.namespace())
                .withUid("uid-box")
                .build());
        sandbox.setSpec(SandboxSpec.DEFAULT);
        var condition = new ConditionBuilder()
                .withType("Ready")
                .withStatus(ready)
                .withReason(reason)
                .build();
        sandbox.setStatus(
                new SandboxStatus(1L, List.of(condition), address, "pod", 1, null, null, null, null, null, null));
        return sandbox;
    }

    /** An API server that tells who reads the sandbox more than those who list and watch. */
    private static final class AheadOfItsWatches extends KubernetesCrudDispatcher {

        private final AtomicInteger reads = new AtomicInteger();
        private final AtomicInteger patches = new AtomicInteger();
        private final AtomicReference<@Nullable Sandbox> newer = new AtomicReference<>();

        void answersReadsWith(Sandbox sandbox) {
            newer.set(sandbox);
        }

        /** With a UID that a test knows before there is a sandbox; the mock makes one up. */
        @Override
        public void processEvent(
                String path,
                AttributeSet at,
                @Nullable AttributeSet before,
                @Nullable GenericKubernetesResource resource,
                @Nullable String state) {
            super.processEvent(path, at, before, resource, state == null ? null : withUid(state));
        }

        private static String withUid(String state) {
            var resource = Serialization.unmarshal(state, GenericKubernetesResource.class);
            resource.getMetadata().setUid("uid-" + resource.getMetadata().getName());
            return Serialization.asJson(resource);
        }

        @Override
        public MockResponse handlePatch(RecordedRequest request) {
            patches.incrementAndGet();
            return super.handlePatch(request);
        }

        @Override
        public MockResponse handleGet(String path) {
            if (!path.endsWith("/sandboxes/" + REF.name())) {
                return super.handleGet(path);
            }
            reads.incrementAndGet();
            Sandbox told = newer.get();
            return told == null
                    ? super.handleGet(path)
                    : new MockResponse().setResponseCode(200).setBody(Serialization.asJson(told));
        }
    }
}
