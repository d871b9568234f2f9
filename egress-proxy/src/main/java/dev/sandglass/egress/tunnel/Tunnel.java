package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.client.Client;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One request of a sandbox, from the verdict to the last byte. Belongs to the event loop of its channels; only
 * {@link #end} may be called by others.
 */
public final class Tunnel {

    private final Client client;
    private final IpAddress source;
    private final Target target;
    private final Channel inner;
    private final LongSupplier nanoTime;
    private final Consumer<Tunnel> ended;
    private final long begin;
    private final Backlog.Direction heldUp;
    private final Backlog.Direction heldDown;

    private @Nullable Channel outer;
    private @Nullable DomainRule rule;
    private Outcome outcome = Outcome.ALLOWED;
    private @Nullable End end;
    private Allotments.@Nullable Allotment allotment;
    private @Nullable ScheduledFuture<?> idleCheck;
    private long lastPassed;
    private long up;
    private long down;
    private int directionsDone;
    private boolean singleAnswer;

    /**
     * A request that is not decided yet.
     *
     * @param inner the connection of the sandbox
     * @param ended called once, on the event loop, when everything is over
     */
    public Tunnel(
            Client client,
            IpAddress source,
            Target target,
            Channel inner,
            LongSupplier nanoTime,
            Backlog backlog,
            Consumer<Tunnel> ended) {
        this.client = client;
        this.source = source;
        this.target = target;
        this.inner = inner;
        this.nanoTime = nanoTime;
        this.heldUp = backlog.new Direction();
        this.heldDown = backlog.new Direction();
        this.ended = ended;
        this.begin = nanoTime.getAsLong();
        this.lastPassed = begin;
        inner.closeFuture().addListener(closed -> end(End.CLOSED));
    }

    public void use(Allotments.Allotment taken) {
        allotment = taken;
    }

    public void allowedBy(DomainRule reason) {
        rule = reason;
    }

    /** Takes the connection to the server, and gives it up again if the sandbox has gone meanwhile. */
    public void connectedTo(Channel server) {
        if (end != null) {
            var _ = server.close();
            return;
        }
        outer = server;
        server.closeFuture().addListener(closed -> lastBytes());
    }

    /** Watches from now on that bytes pass. */
    public void endWhenIdle(Duration idle) {
        long quiet = nanoTime.getAsLong() - lastPassed;
        if (end != null) {
            return;
        }
        if (quiet >= idle.toNanos()) {
            end(End.IDLE);
        } else {
            idleCheck =
                    inner.eventLoop().schedule(() -> endWhenIdle(idle), idle.toNanos() - quiet, TimeUnit.NANOSECONDS);
        }
    }

    /** Notes bytes on their way to the server or back. */
    public void passed(int bytes, boolean upwards) {
        lastPassed = nanoTime.getAsLong();
        if (upwards) {
            up += bytes;
        } else {
            down += bytes;
        }
        if (allotment != null) {
            allotment.passed(bytes);
            if (allotment.isSpent()) {
                end(End.QUOTA);
            }
        }
    }

    /** What of one direction is held here. */
    Backlog.Direction direction(boolean upwards) {
        return upwards ? heldUp : heldDown;
    }

    /** What of both directions is held here. By any thread. */
    int held() {
        return heldUp.held() + heldDown.held();
    }

    /** Whether a reader has stood still for so long. By any thread. */
    boolean hasStood(Duration time) {
        return heldUp.hasStood(time) || heldDown.hasStood(time);
    }

    /**
     * Notes that one side has no more to say and the other has heard it all.
     *
     * @param upwards whether it was the sandbox
     */
    void directionDone(boolean upwards) {
        directionsDone++;
        if (singleAnswer && !upwards) {
            endSaying(Unpooled.EMPTY_BUFFER, End.CLOSED);
        } else if (directionsDone == 2) {
            end(End.CLOSED);
        }
    }

    /** Is over as soon as the server has answered. */
    public void endsWithAnswer() {
        singleAnswer = true;
    }

    /** The server is gone; what it said last is still on its way. */
    private void lastBytes() {
        if (end != null) {
            return;
        }
        inner.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> end(End.CLOSED));
    }

    /** Notes that it is refused, and ends it; the answer is on its way and closes the connection. */
    public void refused(Outcome why) {
        outcome = why;
        finish(End.REFUSED);
    }

    /** Closes both connections. By any thread, any number of times; the first reason counts. */
    public void end(End reason) {
        if (!inner.eventLoop().inEventLoop()) {
            inner.eventLoop().execute(() -> end(reason));
        } else if (end == null) {
            finish(reason);
            var _ = inner.close();
        }
    }

    /** Says a last word to the sandbox, then closes. */
    void endSaying(ByteBuf word, End reason) {
        finish(reason);
        LingeringClose.say(inner, word);
    }

    private void finish(End reason) {
        if (end != null) {
            return;
        }
        end = reason;
        if (outer != null) {
            var _ = outer.close();
        }
        // Else everything of this tunnel stays in memory until then.
        if (idleCheck != null) {
            idleCheck.cancel(false);
        }
        if (allotment != null) {
            allotment.giveBack();
        }
        ended.accept(this);
    }

    public boolean isOver() {
        return end != null;
    }

    public Client client() {
        return client;
    }

    IpAddress source() {
        return source;
    }

    public Target target() {
        return target;
    }

    @Nullable
    public DomainRule rule() {
        return rule;
    }

    public Outcome outcome() {
        return outcome;
    }

    public End reason() {
        return end == null ? End.CLOSED : end;
    }

    public long up() {
        return up;
    }

    public long down() {
        return down;
    }

    public Duration age() {
        return Duration.ofNanos(nanoTime.getAsLong() - begin);
    }
}
