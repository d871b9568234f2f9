package dev.sandglass.operator.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.lifecycle.ClaimableSeat;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.warmstart.Seats;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The claim at the API server: what it refuses, what others claim first, and what comes of an answer that is lost. */
class SeatClaimsTest {

    private static final Instant MADE = Instant.parse("2026-11-28T09:00:00Z");
    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00Z");
    private static final SandboxPool POOL = Seats.pool("tenant-a", "default", PoolTemplate.DEFAULT);

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();
    private final SeatClaims claims = new SeatClaims(client);
    private final Map<String, Pod> cached = new ConcurrentHashMap<>();

    private final SeatClaims.Seats cache = new SeatClaims.Seats() {
        @Override
        public Optional<Pod> latest(Pod seat) {
            return Optional.ofNullable(cached.get(seat.getMetadata().getName()));
        }

        @Override
        public void remember(Pod claimed, Pod before) {
            cached.put(claimed.getMetadata().getName(), claimed);
        }
    };

    /** A seat that runs, at the API server and in the cache. */
    private ClaimableSeat seat(String id) {
        Pod pod = client.resource(Seats.running(Seats.seat(POOL, id, Seats.SETTINGS, NetworkProbe.NONE), MADE))
                .create();
        cached.put(pod.getMetadata().getName(), pod);
        return ClaimableSeat.of(pod).orElseThrow();
    }

    private static Sandbox sandbox(String name) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", name, SandboxStatus.UNSEEN);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return sandbox;
    }

    private static Pod cold(Sandbox sandbox) {
        return SandboxPod.desired(sandbox, 1, Seats.SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE);
    }

    private Optional<Pod> claim(String name, List<ClaimableSeat> seats) {
        Sandbox sandbox = sandbox(name);
        return claims.first(seats, cache, sandbox, 1, cold(sandbox), NOW);
    }

    private static String seatOf(Optional<Pod> pod) {
        return pod.flatMap(ClaimedPod::seat).orElse("none");
    }

    private void answer(ClaimableSeat seat, int code, String reason) {
        api.server()
                .expect()
                .patch()
                .withPath("/api/v1/namespaces/tenant-a/pods/"
                        + seat.pod().getMetadata().getName())
                .andReturn(
                        code,
                        new StatusBuilder()
                                .withCode(code)
                                .withReason(reason)
                                .withMessage("pods \"a\" is forbidden: denied by a policy")
                                .build())
                .once();
    }

    @Test
    void theFirstSeatIsClaimedAndRemembered() {
        Optional<Pod> claimed = claim("demo", List.of(seat("a"), seat("b")));

        assertThat(seatOf(claimed)).isEqualTo("a");
        assertThat(cached.get("sbx-a-0")).isEqualTo(claimed.orElseThrow());
        Pod there = client.pods().inNamespace("tenant-a").withName("sbx-a-0").get();
        assertThat(there.getMetadata().getLabels())
                .containsEntry(SandboxLabels.SANDBOX, "demo")
                .containsEntry(SandboxLabels.SANDBOX_UID, "uid-demo")
                .containsEntry(SandboxLabels.INCARNATION, "1")
                .containsEntry(SandboxLabels.POOL, "default")
                .containsEntry(SandboxLabels.SEAT, "a");
        assertThat(claims.latest("tenant-a")).contains(NOW);
        assertThat(claims.latest("tenant-b")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"409, Conflict", "404, NotFound", "422, Invalid", "403, Forbidden"})
    void aSeatThatCannotBeClaimedIsFollowedByTheNext(int code, String reason) {
        ClaimableSeat first = seat("a");
        answer(first, code, reason);

        assertThat(seatOf(claim("demo", List.of(first, seat("b"))))).isEqualTo("b");
    }

    /** The client asks again if it gets no answer, and then its own claim is the conflict. */
    @Test
    void aConflictWithTheOwnClaimIsSuccess() {
        ClaimableSeat seat = seat("a");
        client.resource(Seats.claimed(seat.pod(), cold(sandbox("demo")), NOW)).update();
        answer(seat, 409, "Conflict");

        assertThat(seatOf(claim("demo", List.of(seat, seat("b"))))).isEqualTo("a");
    }

    @Test
    void aConflictWithTheClaimOfAnotherIsNone() {
        ClaimableSeat seat = seat("a");
        client.resource(Seats.claimed(seat.pod(), cold(sandbox("other")), NOW)).update();
        answer(seat, 409, "Conflict");

        assertThat(seatOf(claim("demo", List.of(seat, seat("b"))))).isEqualTo("b");
    }

    @Test
    void threeConflictsAreEnough() {
        List<ClaimableSeat> seats = List.of(seat("a"), seat("b"), seat("c"), seat("d"));
        seats.subList(0, 3).forEach(seat -> answer(seat, 409, "Conflict"));

        assertThat(claim("demo", seats)).isEmpty();
        assertThat(ClaimedPod.isFree(client.pods()
                        .inNamespace("tenant-a")
                        .withName("sbx-d-0")
                        .get()))
                .isTrue();
    }

    @Tag("slow")
    @Test
    void anAnswerThatSaysNothingOfTheClaimFailsTheRound() {
        ClaimableSeat seat = seat("a");
        answer(seat, 400, "BadRequest");

        assertThatThrownBy(() -> claim("demo", List.of(seat, seat("b")))).isInstanceOf(KubernetesClientException.class);
        assertThat(seatOf(claim("demo", List.of(seat))))
                .as("and leaves it to the next")
                .isEqualTo("a");
    }

    @Test
    void aSeatThatTheCacheShowsAsClaimedIsLeftAloneWithoutAnAttempt() {
        List<ClaimableSeat> seats = List.of(seat("a"), seat("b"), seat("c"), seat("d"));
        seats.subList(0, 3)
                .forEach(seat -> cached.put(
                        seat.pod().getMetadata().getName(), Seats.claimed(seat.pod(), cold(sandbox("other")), NOW)));

        assertThat(seatOf(claim("demo", seats))).isEqualTo("d");
    }

    @Tag("slow")
    @Test
    void aBurstClaimsEachSeatOnceAndAllOfThem() throws Exception {
        List<ClaimableSeat> seats =
                IntStream.range(0, 4).mapToObj(number -> seat("s" + number)).toList();
        Set<String> claimed = new HashSet<>();
        int hits = 0;
        try (ExecutorService rounds = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Optional<Pod>>> results = IntStream.range(0, 10)
                    .mapToObj(number -> rounds.submit(() -> claim("demo-" + number, seats)))
                    .toList();
            for (Future<Optional<Pod>> result : results) {
                Optional<Pod> pod = result.get();
                hits += pod.isPresent() ? 1 : 0;
                pod.flatMap(ClaimedPod::seat).ifPresent(claimed::add);
            }
        }
        assertThat(claimed).containsExactlyInAnyOrder("s0", "s1", "s2", "s3");
        assertThat(hits).isEqualTo(4);
    }

    @Test
    void aClaimWhoseAnswerWasLostIsFoundAtTheApiServer() {
        ClaimableSeat seat = seat("a");
        Sandbox sandbox = sandbox("demo");
        assertThat(claims.present(sandbox, 1)).isEmpty();
        client.resource(Seats.claimed(seat.pod(), cold(sandbox), NOW)).update();

        assertThat(seatOf(claims.present(sandbox, 1))).isEqualTo("a");
        assertThat(claims.present(sandbox, 2)).as("another incarnation").isEmpty();
        assertThat(claims.present(sandbox("other"), 1)).isEmpty();
    }
}
