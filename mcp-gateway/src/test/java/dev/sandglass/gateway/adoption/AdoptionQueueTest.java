package dev.sandglass.gateway.adoption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is still to be looked at. */
class AdoptionQueueTest {

    private final AdoptionQueue queue = new AdoptionQueue(2);

    private static RunningSandbox box(String name) {
        return AdoptionScene.box(name);
    }

    private String next() {
        return queue.next().map(RunningSandbox::uid).orElse("none");
    }

    @Test
    void eachWaitsOnceAndSoManyAreUnderWay() {
        queue.add(List.of(box("a"), box("b")));
        queue.add(List.of(box("b"), box("c")));
        assertThat(next()).isEqualTo("uid-a");
        assertThat(next()).isEqualTo("uid-b");
        assertThat(next()).as("two at a time").isEqualTo("none");
        queue.ended(Outcome.IDLE);
        assertThat(next()).isEqualTo("uid-c");
        assertThat(queue.isDone()).isFalse();
        queue.ended(Outcome.ADOPTED);
        queue.ended(Outcome.IDLE);
        assertThat(next()).isEqualTo("none");
        assertThat(queue.isDone()).isTrue();
    }

    @Test
    void oneThatWaitsKeepsItsPlaceAndIsLookedAtAsItIsNow() {
        var moved = new RunningSandbox(box("a").ref(), "uid-a", 2, "127.0.0.1", 5711);
        queue.add(List.of(box("a"), box("b")));
        queue.add(List.of(moved));
        assertThat(queue.next()).contains(moved);
    }

    @Test
    void oneThatWasLookedAtIsLookedAtAgainWhenItComesAgain() {
        queue.add(List.of(box("a")));
        assertThat(next()).isEqualTo("uid-a");
        queue.add(List.of(box("a")));
        assertThat(next()).isEqualTo("uid-a");
    }

    @Test
    void outcomesAreToldOnce() {
        queue.add(List.of(box("a"), box("b")));
        next();
        next();
        queue.ended(Outcome.IDLE);
        queue.ended(Outcome.IDLE);
        assertThat(queue.outcomes()).isEqualTo(Map.of(Outcome.IDLE, 2));
        assertThat(queue.outcomes()).isEmpty();
    }
}
