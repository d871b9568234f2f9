package dev.sandglass.egress.denial;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which denials are worth an Event now: of one host and sandbox the first in a minute of the clock, with the number of
 * those before it that were not told. Bounded; what is beyond is not in Events, but the gateway gets it all the same.
 */
final class DenialCounts {

    static final int MAX_SANDBOXES = 1024;
    static final int MAX_HOSTS = 16;

    /**
     * What to write.
     *
     * @param last the newest of them
     * @param count how many, at least one
     * @param minute begin of the minute that this is reported in
     */
    record Notice(Denial last, int count, Instant minute) {}

    /** What is known of one host and sandbox. */
    private static final class Told {
        private Denial last;
        private int untold;
        private Instant minute = Instant.MIN;

        private Told(Denial last) {
            this.last = last;
        }
    }

    private final Map<String, Map<String, Told>> bySandbox = new HashMap<>();

    /** Counts one; says what is to be written at once, if anything. */
    synchronized Optional<Notice> add(Denial denial, Instant now) {
        Map<String, Told> hosts = bySandbox.get(denial.sandboxUid());
        if (hosts == null) {
            if (bySandbox.size() >= MAX_SANDBOXES) {
                return Optional.empty();
            }
            hosts = new HashMap<>();
            bySandbox.put(denial.sandboxUid(), hosts);
        }
        String target = denial.host() + ":" + denial.port();
        if (hosts.size() >= MAX_HOSTS && !hosts.containsKey(target)) {
            return Optional.empty();
        }
        Told told = hosts.computeIfAbsent(target, same -> new Told(denial));
        told.last = denial;
        told.untold++;
        return due(told, minuteOf(now));
    }

    /** What was counted in earlier minutes and not reported; forgets what is of no interest any more. */
    synchronized List<Notice> due(Instant now) {
        Instant minute = minuteOf(now);
        List<Notice> due = new ArrayList<>();
        for (Iterator<Map<String, Told>> all = bySandbox.values().iterator(); all.hasNext(); ) {
            Map<String, Told> hosts = all.next();
            hosts.values().removeIf(told -> told.untold == 0 && told.minute.isBefore(minute));
            hosts.values().forEach(told -> due(told, minute).ifPresent(due::add));
            if (hosts.isEmpty()) {
                all.remove();
            }
        }
        return due;
    }

    private static Optional<Notice> due(Told told, Instant minute) {
        if (told.untold == 0 || !told.minute.isBefore(minute)) {
            return Optional.empty();
        }
        Notice notice = new Notice(told.last, told.untold, minute);
        told.untold = 0;
        told.minute = minute;
        return Optional.of(notice);
    }

    /** Another replica reported the same in this minute: what was to be written counts for the next one. */
    synchronized void putBack(Notice notice) {
        Denial last = notice.last();
        Map<String, Told> hosts = bySandbox.get(last.sandboxUid());
        Told told = hosts == null ? null : hosts.get(last.host() + ":" + last.port());
        if (told != null) {
            told.untold += notice.count();
        }
    }

    private static Instant minuteOf(Instant now) {
        return now.truncatedTo(ChronoUnit.MINUTES);
    }
}
