package dev.sandglass.gateway.http;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;

/**
 * Who is connected, and who has to go when one more comes and there is no room: of the strangers the one who has been one for
 * longest, so that whoever holds their places loses them, and a caller has time to show a key. Thread-safe.
 *
 * @param <G> a connection
 */
final class ConnectionTable<G> {

    /** What is known of a guest. */
    private enum Standing {
        STRANGER,
        IDLE,
        BUSY
    }

    private final int mostStrangers;
    private final int most;
    private final Map<G, Standing> all = new HashMap<>();
    private final SequencedSet<G> strangers = new LinkedHashSet<>();
    private final SequencedSet<G> idle = new LinkedHashSet<>();

    ConnectionTable(int mostStrangers, int most) {
        this.mostStrangers = mostStrangers;
        this.most = most;
    }

    /** Lets one more in; returns who has to go for that, which is the new one if all others are busy. */
    synchronized Optional<G> came(G guest) {
        Optional<G> leaving = Optional.empty();
        if (strangers.size() >= mostStrangers) {
            leaving = first(strangers);
        } else if (all.size() >= most) {
            leaving = first(strangers).or(() -> first(idle)).or(() -> Optional.of(guest));
        }
        leaving.ifPresent(this::left);
        if (leaving.isEmpty() || !leaving.get().equals(guest)) {
            put(guest, Standing.STRANGER);
        }
        return leaving;
    }

    /** It has shown a key or a link, with a request that is being served. */
    synchronized void known(G guest) {
        if (all.containsKey(guest)) {
            put(guest, Standing.BUSY);
        }
    }

    /** A request of it begins, or none is left to be served; strangers stay strangers. */
    synchronized void busy(G guest, boolean now) {
        Standing before = all.get(guest);
        if (before != null && before != Standing.STRANGER) {
            put(guest, now ? Standing.BUSY : Standing.IDLE);
        }
    }

    synchronized void left(G guest) {
        all.remove(guest);
        strangers.remove(guest);
        idle.remove(guest);
    }

    synchronized int size() {
        return all.size();
    }

    private void put(G guest, Standing standing) {
        left(guest);
        all.put(guest, standing);
        switch (standing) {
            case STRANGER -> strangers.add(guest);
            case IDLE -> idle.add(guest);
            case BUSY -> {}
        }
    }

    private static <G> Optional<G> first(SequencedSet<G> guests) {
        Iterator<G> each = guests.iterator();
        return each.hasNext() ? Optional.of(each.next()) : Optional.empty();
    }
}
