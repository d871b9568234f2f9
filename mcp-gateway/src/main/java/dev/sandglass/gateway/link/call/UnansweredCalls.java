package dev.sandglass.gateway.link.call;

import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkFrames;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of one pod that have no answer yet, and the answers that it does not read. They belong to the wire on which
 * they came. Owner thread only.
 */
public final class UnansweredCalls {

    /** Most of them at a time; a supervisor of ours has no more under way either. */
    public static final int MOST = 64;

    private static final Logger LOG = LoggerFactory.getLogger(UnansweredCalls.class);

    private final PodCalls calls;
    private final String sandboxUid;
    private final int incarnation;
    private final Executor owner;
    private final Map<String, CompletableFuture<PodAnswer>> answers = new HashMap<>();
    private final Queue<Unsent> unsent = new ArrayDeque<>();

    /** An answer for which the wire has no room. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Unsent(byte[][] frames, Runnable gone) {}

    /**
     * @param owner runs something on the owner thread
     */
    public UnansweredCalls(PodCalls calls, String sandboxUid, int incarnation, Executor owner) {
        this.calls = calls;
        this.sandboxUid = sandboxUid;
        this.incarnation = incarnation;
        this.owner = owner;
    }

    /**
     * Takes a call; false if one of that id is under way already.
     *
     * @param wire on which it came
     */
    public boolean came(Inbound.Call call, ReplyWire wire) {
        String id = call.callId();
        if (answers.containsKey(id)) {
            return false;
        }
        if (answers.size() + unsent.size() >= MOST) {
            String bound = "more than " + MOST + " calls of this sandbox wait for an answer";
            // Not behind those that wait: it is short, and whoever sends so many calls reads nothing.
            wire.send(LinkFrames.problem(id, "too_many_calls", bound));
            return true;
        }
        CompletableFuture<PodAnswer> answer = answer(call);
        answers.put(id, answer);
        var _ = answer.whenComplete((given, failure) -> owner.execute(() -> {
            if (!answers.remove(id, answer)) {
                release(given);
            } else if (given == null) {
                reply(wire, new Unsent(problem(id, failure), () -> {}));
            } else {
                reply(wire, new Unsent(LinkFrames.returned(id, given.answer()), given.gone()));
            }
        }));
        return true;
    }

    /** Whether no call waits for its answer. */
    public boolean isEmpty() {
        return answers.isEmpty();
    }

    private void reply(ReplyWire wire, Unsent reply) {
        if (unsent.isEmpty() && wire.isReady()) {
            send(wire, reply);
        } else {
            unsent.add(reply);
        }
    }

    private static void send(ReplyWire wire, Unsent reply) {
        wire.send(reply.frames());
        reply.gone().run();
    }

    private static void release(@Nullable PodAnswer given) {
        if (given != null) {
            given.gone().run();
        }
    }

    /** The wire takes more. */
    public void ready(ReplyWire wire) {
        while (wire.isReady() && !unsent.isEmpty()) {
            send(wire, unsent.remove());
        }
    }

    /** Nothing waits for that answer any more; false if nothing did. */
    public boolean withdrawn(String callId) {
        CompletableFuture<PodAnswer> answer = answers.remove(callId);
        return answer != null && answer.cancel(false);
    }

    /** The wire is gone, and with it all that waited there. */
    public void lost() {
        List<CompletableFuture<PodAnswer>> all = List.copyOf(answers.values());
        answers.clear();
        all.forEach(answer -> answer.cancel(false));
        for (Unsent reply = unsent.poll(); reply != null; reply = unsent.poll()) {
            reply.gone().run();
        }
    }

    private CompletableFuture<PodAnswer> answer(Inbound.Call call) {
        if (!calls.kinds().contains(call.kind())) {
            // The supervisor asks another gateway: this one is being drained.
            return CompletableFuture.failedFuture(new LinkException(
                    LinkException.Kind.REFUSED,
                    "unknown_kind",
                    "this gateway answers no '" + call.kind() + "' calls now"));
        }
        var asked =
                new PodCall(sandboxUid, incarnation, call.kind(), call.executionId(), call.arguments(), call.blob());
        try {
            return calls.answer(asked);
        } catch (RuntimeException fault) {
            return CompletableFuture.failedFuture(fault);
        }
    }

    private byte[][] problem(String id, @Nullable Throwable failure) {
        if (failure != null && LinkException.unwrap(failure) instanceof LinkException known) {
            return LinkFrames.problem(id, known.code(), known.text());
        }
        LOG.atError().addKeyValue("uid", sandboxUid).setCause(failure).log("A call of a sandbox's pod failed");
        return LinkFrames.problem(id, "internal", "a fault in the gateway");
    }
}
