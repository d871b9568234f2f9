package dev.sandglass.gateway.adoption;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The sandboxes that are still to be looked at, each once, so many at a time. Without a clock; not thread-safe. */
final class AdoptionQueue {

    private final int atOnce;
    private final Map<String, RunningSandbox> waiting = new LinkedHashMap<>();
    private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    private int underWay;

    AdoptionQueue(int atOnce) {
        this.atOnce = atOnce;
    }

    /** More of them; one that waits already keeps its place, and is looked at as it is now. */
    void add(Collection<RunningSandbox> sandboxes) {
        sandboxes.forEach(sandbox -> waiting.put(sandbox.uid(), sandbox));
    }

    /** The next one; empty if there is none, or as many as may be are under way. */
    Optional<RunningSandbox> next() {
        if (underWay >= atOnce || waiting.isEmpty()) {
            return Optional.empty();
        }
        RunningSandbox next = waiting.remove(waiting.keySet().iterator().next());
        underWay++;
        return Optional.of(next);
    }

    /** One that was under way has come to an end. */
    void ended(Outcome outcome) {
        underWay--;
        outcomes.merge(outcome, 1, Integer::sum);
    }

    /** Whether none waits and none is under way. */
    boolean isDone() {
        return waiting.isEmpty() && underWay == 0;
    }

    /** How many came to which end since this was asked last. */
    Map<Outcome, Integer> outcomes() {
        var all = new EnumMap<>(outcomes);
        outcomes.clear();
        return all;
    }
}
