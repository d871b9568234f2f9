package dev.sandglass.gateway.toolcall;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

/**
 * How many calls the executions made of each server. An execution's id comes from code, so that only so many are
 * remembered of a sandbox, and one that invents ids forgets its own alone. Thread-safe.
 */
final class ExecutionCounts {

    /** Most pairs of execution and server that are remembered of a sandbox; a supervisor keeps as many executions. */
    static final int MOST_OF_SANDBOX = 64;

    /** Most of them of all sandboxes. */
    static final int MOST = 16 * 1024;

    private static final float LOAD = 0.75f;

    private final int most;
    private final Map<String, SequencedMap<Key, Integer>> bySandbox = new LinkedHashMap<>(16, LOAD, true);
    private int size;

    ExecutionCounts() {
        this(MOST);
    }

    ExecutionCounts(int most) {
        this.most = most;
    }

    private record Key(String execution, String server) {}

    /** Counts a call, unless there were as many already. */
    synchronized boolean count(String sandbox, String execution, String server, int atMost) {
        SequencedMap<Key, Integer> counts =
                bySandbox.computeIfAbsent(sandbox, _ -> new LinkedHashMap<>(16, LOAD, true));
        var key = new Key(execution, server);
        Integer before = counts.get(key);
        if (before != null && before >= atMost) {
            return false;
        }
        counts.put(key, before == null ? 1 : before + 1);
        if (before == null) {
            size++;
            forgetEldest(counts, MOST_OF_SANDBOX);
            forgetSandboxes(sandbox);
        }
        return true;
    }

    private void forgetEldest(SequencedMap<Key, Integer> counts, int atMost) {
        if (counts.size() > atMost) {
            counts.pollFirstEntry();
            size--;
        }
    }

    private void forgetSandboxes(String butNot) {
        Iterator<Map.Entry<String, SequencedMap<Key, Integer>>> eldest =
                bySandbox.entrySet().iterator();
        while (size > most && eldest.hasNext()) {
            Map.Entry<String, SequencedMap<Key, Integer>> entry = eldest.next();
            if (!entry.getKey().equals(butNot)) {
                size -= entry.getValue().size();
                eldest.remove();
            }
        }
    }

    /** How many are remembered. */
    synchronized int size() {
        return size;
    }

    /** How many are remembered of each sandbox. */
    synchronized Map<String, Integer> sizes() {
        var sizes = new HashMap<String, Integer>();
        bySandbox.forEach((sandbox, counts) -> sizes.put(sandbox, counts.size()));
        return sizes;
    }
}
