package dev.sandglass.gateway.toolcall;

import java.util.LinkedHashMap;
import java.util.Optional;

/**
 * What is known by a name, of so many names: the one that was not asked for longest is forgotten. Thread-safe.
 *
 * @param <T> what is known
 */
final class Recent<T> {

    private static final float LOAD = 0.75f;

    private final int most;
    private final LinkedHashMap<String, T> values = new LinkedHashMap<>(16, LOAD, true);

    Recent(int most) {
        this.most = most;
    }

    synchronized Optional<T> get(String name) {
        return Optional.ofNullable(values.get(name));
    }

    synchronized void put(String name, T value) {
        values.put(name, value);
        if (values.size() > most) {
            values.pollFirstEntry();
        }
    }

    synchronized void remove(String name) {
        values.remove(name);
    }

    synchronized int size() {
        return values.size();
    }
}
