package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MailboxTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    // Nanoseconds: about what it takes to fall asleep.
    private static final int MOMENT = 1_000;

    private final Semaphore wakes = new Semaphore(0);
    private final Mailbox mailbox = new Mailbox(wakes::release);

    @Test
    void wakesNobodyWhoIsAwake() {
        mailbox.add(MailboxTest::nothing);
        assertThat(wakes.availablePermits()).isZero();
    }

    @Test
    void wakesASleeperOnce() {
        assertThat(mailbox.fallAsleep()).isTrue();
        mailbox.add(MailboxTest::nothing);
        mailbox.add(MailboxTest::nothing);
        assertThat(wakes.availablePermits()).isEqualTo(1);
    }

    @Test
    void wakesASleeperEachTimeThatItSleeps() {
        for (int i = 1; i < 10; i++) {
            assertThat(mailbox.fallAsleep()).isTrue();
            mailbox.add(MailboxTest::nothing);
            assertThat(wakes.availablePermits()).isEqualTo(i);
            mailbox.awake();
            mailbox.add(MailboxTest::nothing);
            assertThat(wakes.availablePermits()).isEqualTo(i);
            assertThat(mailbox.poll()).isNotNull();
            assertThat(mailbox.poll()).isNotNull();
            assertThat(mailbox.poll()).isNull();
        }
    }

    @Test
    void nobodyFallsAsleepOverACommand() {
        mailbox.add(MailboxTest::nothing);
        assertThat(mailbox.fallAsleep()).isFalse();
        mailbox.add(MailboxTest::nothing);
        assertThat(wakes.availablePermits()).isZero();
    }

    @Test
    void noWakeUpIsLost() throws Exception {
        int turns = 300_000;
        Thread owner = Thread.ofPlatform().daemon().start(() -> serve(turns));
        AtomicInteger served = new AtomicInteger();
        inTurns(turns, served, () -> mailbox.add(served::incrementAndGet));
        owner.join(PATIENCE);
        assertThat(owner.isAlive()).isFalse();
    }

    /**
     * Hands in one command after the other, each when the one before was served. The owner is falling asleep at that time,
     * and the delays are such that the next comes now before that, now after, now in the middle of it. It fails when one is
     * not served.
     */
    static void inTurns(int turns, AtomicInteger served, Runnable handIn) {
        Random random = new Random(7);
        for (int turn = 0; turn < turns; turn++) {
            long start = System.nanoTime();
            // Not parked: waking up would take longer than what is to be hit.
            while (served.get() < turn) {
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw new AssertionError("command " + turn + " was not served");
                }
                Thread.onSpinWait();
            }
            long now = System.nanoTime();
            long moment = now + random.nextInt(MOMENT);
            while (now < moment) {
                now = System.nanoTime();
            }
            handIn.run();
        }
    }

    private void serve(int turns) {
        int served = 0;
        while (served < turns) {
            for (Runnable command = mailbox.poll(); command != null; command = mailbox.poll()) {
                command.run();
                served++;
            }
            if (served < turns && mailbox.fallAsleep()) {
                wakes.acquireUninterruptibly();
                mailbox.awake();
            }
        }
    }

    private static void nothing() {}
}
