package dev.sandglass.gateway.adoption;

import static dev.sandglass.gateway.adoption.Adoption.AGAIN;
import static dev.sandglass.gateway.adoption.Adoption.AT_ONCE;
import static dev.sandglass.gateway.adoption.Adoption.JITTER;
import static dev.sandglass.gateway.adoption.Adoption.LONGEST;
import static dev.sandglass.gateway.adoption.Adoption.PACE;
import static dev.sandglass.gateway.adoption.Adoption.SYNC;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a replica looks for sandboxes without a gateway, at which, and how fast. */
class AdoptionTest {

    private static final Duration A_WHILE = Duration.ofSeconds(5);

    private final AdoptionScene scene = new AdoptionScene();

    @AfterEach
    void close() {
        scene.close();
    }

    private static String[] names(int count) {
        return IntStream.range(0, count).mapToObj(n -> "box-" + n).toArray(String[]::new);
    }

    private List<String> own(Set<String> others) {
        var peers = new Peers("self", others);
        return scene.running.values().stream()
                .filter(box -> peers.isOfSelf(box.uid()))
                .map(box -> box.ref().name())
                .toList();
    }

    @Test
    void whenItStartsItAdoptsTheBusyOnesAndDialsNoOther() {
        scene.add("busy", "quiet", "lonely");
        scene.busy.remove("quiet");
        scene.withoutServers.add("lonely");
        scene.adoption.start();
        scene.pass(A_WHILE);
        assertThat(scene.dialled).containsExactly("busy");
        assertThat(scene.asked)
                .as("without servers there is no need for a link")
                .containsExactly("busy", "quiet");
        assertThat(scene.count("adopted")).isEqualTo(1);
        assertThat(scene.count("not_busy")).isEqualTo(1);
    }

    @Test
    void nothingIsDoneBeforeItStarts() {
        scene.add("busy");
        scene.adoption.serving(Set.of("two"));
        scene.adoption.serving(Set.of());
        scene.pass(A_WHILE);
        assertThat(scene.asked).isEmpty();
    }

    @Test
    void itWaitsUntilTheSandboxesAreKnown() {
        scene.known = false;
        scene.adoption.start();
        scene.pass(A_WHILE);
        assertThat(scene.asked).isEmpty();
        scene.add("busy");
        scene.known = true;
        scene.pass(SYNC.plus(PACE));
        assertThat(scene.dialled).containsExactly("busy");
    }

    @Test
    void whenAReplicaGoesItsShareIsLookedAtAndWhenOneComesNothing() {
        scene.adoption.serving(Set.of("two", "three"));
        scene.adoption.start();
        scene.pass(AGAIN.plus(JITTER));
        scene.add(names(60));
        scene.adoption.serving(Set.of("two", "three", "four"));
        scene.pass(A_WHILE);
        assertThat(scene.asked).isEmpty();
        scene.adoption.serving(Set.of("two"));
        scene.pass(A_WHILE);
        assertThat(scene.asked).containsExactlyElementsOf(own(Set.of("two")));
        assertThat(own(Set.of("two"))).hasSizeBetween(15, 45);
    }

    @Test
    void looksOnceMoreAfterAWhile() {
        scene.add("early");
        scene.untold.add("early");
        scene.adoption.start();
        scene.pass(A_WHILE);
        assertThat(scene.count("failed")).isEqualTo(1);
        scene.untold.clear();
        scene.add("late");
        scene.pass(AGAIN.minus(A_WHILE).minusMillis(1));
        assertThat(scene.dialled).isEmpty();
        scene.pass(JITTER.plus(PACE.multipliedBy(3)));
        assertThat(scene.dialled).containsExactly("early", "late");
        scene.pass(Duration.ofHours(1));
        assertThat(scene.asked).as("no third look").hasSize(3);
    }

    @Test
    void looksAtSoManyInATime() {
        scene.add(names(200));
        scene.adoption.start();
        scene.pass(Duration.ofSeconds(1));
        assertThat(scene.asked).hasSizeBetween(49, 51);
        scene.pass(PACE.multipliedBy(160));
        assertThat(scene.dialled).hasSize(200);
    }

    @Test
    void oneDeadPodHoldsUpNoOther() {
        scene.add(names(50));
        scene.dead.add("box-0");
        scene.adoption.start();
        scene.pass(PACE.multipliedBy(50));
        assertThat(scene.dialled).hasSize(50);
        assertThat(scene.count("adopted")).isEqualTo(49);
        scene.pass(LONGEST);
        assertThat(scene.count("failed")).isEqualTo(1);
    }

    @Test
    void manyDeadPodsTakeTheirPlacesForABoundedTime() {
        scene.add(names(AT_ONCE + 5));
        IntStream.range(0, AT_ONCE).forEach(n -> scene.dead.add("box-" + n));
        scene.adoption.start();
        scene.pass(LONGEST.minusMillis(1));
        assertThat(scene.dialled).hasSize(AT_ONCE);
        scene.pass(PACE.multipliedBy(AT_ONCE + 10));
        assertThat(scene.dialled).contains("box-" + AT_ONCE, "box-" + (AT_ONCE + 4));
    }

    @Test
    void afterItsEndItLooksNoMore() {
        scene.add(names(10));
        scene.adoption.serving(Set.of("two"));
        scene.adoption.start();
        scene.pass(PACE);
        int before = scene.asked.size();
        assertThat(before).isPositive().isLessThan(10);
        scene.adoption.close();
        scene.adoption.serving(Set.of());
        scene.pass(Duration.ofHours(1));
        assertThat(scene.asked).hasSize(before);
    }
}
