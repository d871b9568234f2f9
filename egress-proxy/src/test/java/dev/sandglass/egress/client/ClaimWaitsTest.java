package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.proxy.FakeClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long and how many requests wait for the claim of their seat. */
class ClaimWaitsTest {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final String ONE = "10.244.0.7";
    private static final String TWO = "10.244.0.8";
    private static final String THREE = "10.244.0.9";

    private final FakeClients clients = new FakeClients();

    private static CompletableFuture<Boolean> at(ClaimWaits waits, String address) {
        return waits.at(IpAddress.parse(address)).toCompletableFuture();
    }

    private static boolean answer(CompletionStage<Boolean> wait) throws Exception {
        return wait.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void aClaimWakesAllRequestsOfItsSeatAndNoOther() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 2, 4);
        List<CompletableFuture<Boolean>> mine = List.of(at(waits, ONE), at(waits, ONE));
        CompletableFuture<Boolean> neighbours = at(waits, TWO);
        assertThat(mine).noneMatch(CompletableFuture::isDone);
        clients.put(ONE, "one");
        for (CompletableFuture<Boolean> wait : mine) {
            assertThat(answer(wait)).isTrue();
        }
        assertThat(neighbours).isNotDone();
        assertThat(waits.count()).isEqualTo(1);
        clients.put(TWO, "two");
        assertThat(answer(neighbours)).isTrue();
        assertThat(waits.count()).isZero();
    }

    @Test
    void whatChangesElsewhereWakesNobody() {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 1, 1);
        CompletableFuture<Boolean> wait = at(waits, ONE);
        clients.put(TWO, "two");
        clients.remove(TWO);
        assertThat(wait).isNotDone();
        assertThat(waits.count()).isEqualTo(1);
    }

    @Test
    void whatWasClaimedBeforeWaitsForNothing() {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 1, 1);
        clients.put(ONE, "one");
        assertThat(at(waits, ONE)).isCompletedWithValue(true);
        assertThat(waits.count()).isZero();
    }

    @Test
    void withoutAClaimTheWaitEndsWithThePatienceAndTheRoomIsFreeAgain() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients, Duration.ofMillis(20), 1, 1);
        for (int i = 0; i < 3; i++) {
            assertThat(answer(at(waits, ONE))).isFalse();
            await().until(() -> waits.count() == 0);
        }
        clients.put(ONE, "one");
        assertThat(answer(at(waits, ONE))).isTrue();
    }

    @Test
    void itIsNotOverBeforeThePatience() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients);
        long begin = System.nanoTime();
        assertThat(answer(at(waits, ONE))).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(ClaimWaits.PATIENCE);
    }

    @Test
    void oneSeatHasButSoManyRequestsThatWait() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 3, 100);
        List<CompletableFuture<Boolean>> within = flood(waits, ONE, 3);
        assertThat(at(waits, ONE)).isCompletedWithValue(false);
        assertThat(within).noneMatch(CompletableFuture::isDone);
        // A neighbour has its own room.
        assertThat(at(waits, TWO)).isNotDone();
        assertThat(waits.count()).isEqualTo(4);
        clients.put(ONE, "one");
        for (CompletableFuture<Boolean> wait : within) {
            assertThat(answer(wait)).isTrue();
        }
        assertThat(waits.count()).isEqualTo(1);
    }

    @Test
    void allSeatsTogetherHaveButSoManyRequestsThatWait() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 2, 4);
        List<CompletableFuture<Boolean>> within = new ArrayList<>(flood(waits, ONE, 2));
        within.addAll(flood(waits, TWO, 2));
        assertThat(within).noneMatch(CompletableFuture::isDone);
        assertThat(at(waits, THREE)).isCompletedWithValue(false);
        assertThat(waits.count()).isEqualTo(4);
        clients.put(ONE, "one");
        await().until(() -> waits.count() == 2);
        CompletableFuture<Boolean> now = at(waits, THREE);
        assertThat(now).isNotDone();
        clients.put(THREE, "three");
        assertThat(answer(now)).isTrue();
    }

    private static List<CompletableFuture<Boolean>> flood(ClaimWaits waits, String address, int times) {
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            all.add(at(waits, address));
        }
        return all;
    }

    /** Claims and requests at the same moment, many times: none is missed, and none is counted twice. */
    @Test
    void aClaimWhileTheRequestComesIsNotMissed() throws Exception {
        ClaimWaits waits = new ClaimWaits(clients, LONG, 8, 8);
        for (int i = 0; i < 2000; i++) {
            List<CompletableFuture<CompletionStage<Boolean>>> asked = new ArrayList<>();
            for (int j = 0; j < 4; j++) {
                asked.add(CompletableFuture.supplyAsync(() -> waits.at(IpAddress.parse(ONE))));
            }
            clients.put(ONE, "one");
            for (CompletableFuture<CompletionStage<Boolean>> each : asked) {
                assertThat(answer(each.get(10, TimeUnit.SECONDS))).isTrue();
            }
            clients.remove(ONE);
        }
        assertThat(waits.count()).isZero();
    }
}
