package dev.sandglass.api.egress;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Addresses without some of them, as a NetworkPolicy can say it.
 *
 * @param range the addresses
 * @param except ranges within it, and smaller than it, that do not belong to it
 */
public record ReachableBlock(IpRange range, List<IpRange> except) {

    /** Copies the list. */
    public ReachableBlock {
        except = List.copyOf(except);
    }

    /**
     * What remains of a range. Two ranges are apart or one within the other, so that between the borders nothing changes:
     * each border that a reachable part begins at is a block, and the borders within, where it ends, are its exceptions.
     *
     * @param borders ranges at which it may change whether addresses are reachable
     * @param closed whether the addresses of a border, but for those of smaller borders within, are not reachable
     */
    static List<ReachableBlock> of(IpRange asked, List<IpRange> borders, Predicate<IpRange> closed) {
        Set<IpRange> within = new HashSet<>(borders);
        within.removeIf(border -> border.first().bits() != asked.first().bits() || !asked.contains(border));
        within.add(asked);
        List<IpRange> sorted = within.stream()
                .sorted(Comparator.comparingInt(IpRange::prefix).thenComparing(IpRange::toString))
                .toList();
        List<ReachableBlock> blocks = new ArrayList<>();
        for (IpRange begin : sorted) {
            boolean opens = begin.equals(asked) || closed.test(parent(begin, sorted));
            if (!closed.test(begin) && opens) {
                blocks.add(new ReachableBlock(
                        begin,
                        sorted.stream()
                                .filter(end -> isEnd(begin, end, sorted, closed))
                                .toList()));
            }
        }
        return List.copyOf(blocks);
    }

    /** Whether going inwards from one border to the other, the last one is the first that is closed. */
    private static boolean isEnd(IpRange begin, IpRange end, List<IpRange> sorted, Predicate<IpRange> closed) {
        return !end.equals(begin)
                && begin.contains(end)
                && closed.test(end)
                && sorted.stream()
                        .filter(between -> begin.contains(between)
                                && between.contains(end)
                                && !between.equals(end)
                                && !between.equals(begin))
                        .noneMatch(closed);
    }

    /** The smallest border around another one. */
    private static IpRange parent(IpRange inner, List<IpRange> sorted) {
        return sorted.stream()
                .filter(outer -> outer.contains(inner) && !outer.equals(inner))
                .reduce((wide, narrow) -> narrow)
                .orElse(inner);
    }
}
