package dev.sandglass.gateway.adoption;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which replica has which sandbox. */
class PeersTest {

    private static final List<String> UIDS = uids(new Random(7), 2000);

    private static List<String> uids(Random random, int count) {
        return Stream.generate(() -> new UUID(random.nextLong(), random.nextLong()).toString())
                .limit(count)
                .toList();
    }

    private static Set<String> replicas(int count) {
        return IntStream.range(0, count)
                .mapToObj(n -> "sandglass-mcp-gateway-7d4b9c-" + n)
                .collect(Collectors.toSet());
    }

    private static Peers peers(String self, Set<String> all) {
        var others = new HashSet<>(all);
        others.remove(self);
        return new Peers(self, others);
    }

    /** Who thinks that it has the sandbox, when all know of each other. */
    private static List<String> owners(Set<String> all, String uid) {
        return all.stream().filter(self -> peers(self, all).isOfSelf(uid)).toList();
    }

    private static Map<String, String> shares(Set<String> all) {
        var shares = new HashMap<String, String>();
        for (String uid : UIDS) {
            assertThat(owners(all, uid)).as(uid).hasSize(1);
            shares.put(uid, owners(all, uid).getFirst());
        }
        return shares;
    }

    @Test
    void eachSandboxHasOneReplicaAndTheSharesAreEven() {
        for (int count : List.of(1, 2, 3, 5)) {
            Map<String, Long> sizes = shares(replicas(count)).values().stream()
                    .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
            assertThat(sizes).hasSize(count);
            long even = UIDS.size() / count;
            assertThat(sizes.values()).allSatisfy(size -> assertThat(size).isBetween(even * 3 / 4, even * 5 / 4));
        }
    }

    @Tag("slow")
    @Test
    void aReplicaThatGoesLeavesItsOwnAndNoOthersChangeHands() {
        Set<String> all = replicas(4);
        Map<String, String> before = shares(all);
        for (String gone : all) {
            var left = new HashSet<>(all);
            left.remove(gone);
            Map<String, String> after = shares(left);
            List<String> moved = UIDS.stream()
                    .filter(uid -> !Objects.equals(before.get(uid), after.get(uid)))
                    .toList();
            assertThat(moved)
                    .isNotEmpty()
                    .isEqualTo(UIDS.stream()
                            .filter(uid -> gone.equals(before.get(uid)))
                            .toList());
        }
    }

    @Test
    void oneAloneHasAll() {
        Peers alone = new Peers("one", Set.of());
        assertThat(UIDS).allMatch(alone::isOfSelf);
    }

    @Test
    void onlyOneThatWentIsALoss() {
        Peers both = new Peers("one", Set.of("two", "three"));
        assertThat(new Peers("one", Set.of("two")).lackAnyOf(both)).isTrue();
        assertThat(new Peers("one", Set.of("two", "four")).lackAnyOf(both)).isTrue();
        assertThat(new Peers("one", Set.of("two", "three", "four")).lackAnyOf(both))
                .isFalse();
        assertThat(both.lackAnyOf(both)).isFalse();
    }
}
