package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.call.ReplyWire;
import dev.sandglass.gateway.link.call.UnansweredCalls;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkFrames;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls that waited in the pod for a gateway: the supervisor sends them when it has read hello, and so before its answer.
 * Owner thread only.
 */
final class EarlyCalls {

    /** Most bytes of tools' arguments, which nothing counts yet. */
    static final int MOST_BYTES = 1024 * 1024;

    private final List<Inbound.Call> calls = new ArrayList<>();
    private long bytes;

    /** Keeps a call, or tells the pod that it does not. */
    void came(Inbound.Call call, ReplyWire wire) {
        long after = bytes + call.blob().length();
        if (calls.size() >= UnansweredCalls.MOST || after > MOST_BYTES) {
            String bound = "too much waited for a gateway; make this call again";
            wire.send(LinkFrames.problem(call.callId(), "too_many_calls", bound));
        } else {
            calls.add(call);
            bytes = after;
        }
    }

    /** The pod waits for one of them no more; false if it is none of them. */
    boolean withdrawn(String callId) {
        return calls.removeIf(call -> call.callId().equals(callId));
    }

    /** All of them, in their order; none is kept. */
    List<Inbound.Call> take() {
        List<Inbound.Call> all = List.copyOf(calls);
        calls.clear();
        bytes = 0;
        return all;
    }
}
