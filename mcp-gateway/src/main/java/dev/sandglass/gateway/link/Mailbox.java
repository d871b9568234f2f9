package dev.sandglass.gateway.link;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What other threads hand to the one that owns this. It is woken only if it sleeps, and once only: a call to the kernel for
 * each command would cost the others more than all else that they do here.
 */
final class Mailbox {

    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean asleep = new AtomicBoolean();
    private final Runnable wake;

    /**
     * @param wake ends the owner's sleep, or its next one if it does not sleep yet; called on any thread
     */
    Mailbox(Runnable wake) {
        this.wake = wake;
    }

    /** Adds a command; any thread. */
    void add(Runnable command) {
        // First the command, then the look at the owner, who does the same the other way round: one of the two sees the
        // other.
        commands.add(command);
        if (asleep.get() && asleep.compareAndSet(true, false)) {
            wake.run();
        }
    }

    /** The next command, if there is one. */
    @Nullable
    Runnable poll() {
        return commands.poll();
    }

    /** The owner wants to sleep: from now on it is woken. False, and it is not, if there is a command already. */
    boolean fallAsleep() {
        asleep.set(true);
        if (commands.isEmpty()) {
            return true;
        }
        asleep.set(false);
        return false;
    }

    /** The owner is awake, and is going to look for commands before it sleeps again. */
    void awake() {
        asleep.set(false);
    }
}
