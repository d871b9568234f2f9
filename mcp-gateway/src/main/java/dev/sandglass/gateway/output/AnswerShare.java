package dev.sandglass.gateway.output;

import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.quota.ByteBudget.Taken;
import dev.sandglass.gateway.sandbox.SandboxProblem;

/**
 * What one answer takes of the memory for answers, from the first record that it keeps until it was written. One thread
 * at a time, but for its end.
 */
public final class AnswerShare {

    /**
     * What an answer has beyond every budget, some 4,000 characters: a short answer comes whatever others hold. Of the
     * 4,096 connections of a replica that is 48 MiB, if each waits for an answer that has it.
     */
    public static final long ALWAYS = 12 * 1024;

    private final ByteBudget.Share share;
    private long held;
    private Taken last = Taken.YES;

    public AnswerShare(ByteBudget.Share share) {
        this.share = share;
    }

    /** Has the answer hold so many bytes more, or fewer; false, and nothing changes, if there is no room for them. */
    public boolean change(long bytes) {
        long counted = counted(held + bytes) - counted(held);
        if (counted > 0) {
            Taken taken = share.take(counted);
            if (taken != Taken.YES) {
                last = taken;
                return false;
            }
        } else {
            share.give(-counted);
        }
        held += bytes;
        return true;
    }

    private static long counted(long bytes) {
        return Math.max(0, bytes - ALWAYS);
    }

    /** Whether anything found no room. */
    public boolean isShort() {
        return last != Taken.YES;
    }

    /**
     * Refuses a page that got nowhere for want of room: whoever was told to read on there would ask again and again.
     *
     * @param cut what becomes of what the page left out
     * @param next where the page says to read on
     * @param from where the page begins
     */
    public void refuseIfEmpty(CutOutput cut, long next, long from) {
        if (isShort() && cut == CutOutput.READABLE && next <= from) {
            throw refusal(from);
        }
    }

    private SandboxProblem refusal(long offset) {
        String whose = last == Taken.NO_ROOM ? "all tenants" : "this tenant";
        return new SandboxProblem.Refused(
                ("Rejected: the answers of executions that calls wait for, or that were not read yet, have all the"
                                + " room of %s on this replica. Nothing is lost: read from offset %d again in a moment,"
                                + " with fewer calls at a time.")
                        .formatted(whose, offset));
    }

    /** Gives back all of it, once and for all; any thread. */
    public void end() {
        share.end();
    }
}
