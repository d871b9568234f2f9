package dev.sandglass.gateway.contract.dropin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The newest sessions that were ended, at this replica or at another that told it, so that a client that goes on with one is
 * told. A replica that does not know of the end, because it started later, gives the client a new, empty sandbox instead: that
 * of the ended session is gone in any case.
 */
final class EndedSessions {

    static final int MOST = 10_000;

    private final Set<String> ended = Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MOST;
        }
    }));

    void add(String session) {
        ended.add(session);
    }

    boolean has(String session) {
        return ended.contains(session);
    }
}
