package dev.sandglass.gateway.link;

import java.util.concurrent.TimeUnit;

/**
 * How long to wait for each step of connecting, and until the next attempt. Tuned to a pod that started a moment ago:
 * tries often at first, and never waits much longer than it has been trying. Pure; times in nanoseconds.
 */
final class Redial {

    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    // A pause adds at most 5 % to the time that the far side took to come up.
    private static final int PAUSE_SHARE = 20;

    // A pod's network loses SYNs while it is set up, and while it takes in the labels of a claim (with
    // kube-network-policies 0.8 one in ten). TCP itself repeats one only after a second; an answer takes milliseconds.
    private static final long FIRST_TCP = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LONGEST_STEP = TimeUnit.SECONDS.toNanos(4);

    // The far side greets before it does anything that takes time.
    private static final long FIRST_GREETING = TimeUnit.MILLISECONDS.toNanos(500);
    // A handshake costs milliseconds of CPU on both sides, and after a restart of the gateway hundreds come at once.
    private static final long FIRST_HELLO = TimeUnit.SECONDS.toNanos(4);
    private static final long LONGEST_HELLO = TimeUnit.SECONDS.toNanos(30);
    private static final int GROWTH = 4;

    // One that breaks sooner is part of the same trouble: a far side that answers and hangs up again and again.
    private static final long STEADY = TimeUnit.SECONDS.toNanos(10);

    private boolean trying;
    private long since;
    private boolean stood;
    private long stoodAt;
    private long tcp = FIRST_TCP;
    private long greeting = FIRST_GREETING;
    private long hello = FIRST_HELLO;

    /** An attempt begins; how long the TCP connection may take. */
    long tcpPatience(long now) {
        endOldTrouble(now);
        if (!trying) {
            trying = true;
            since = now;
        }
        long patience = tcp;
        tcp = Math.min(LONGEST_STEP, tcp * 2);
        return patience;
    }

    /** TCP stands; how long the far side's greeting may take, which needs neither keys nor the supervisor's own work. */
    long greetingPatience() {
        long patience = greeting;
        greeting = Math.min(LONGEST_STEP, greeting * GROWTH);
        return patience;
    }

    /** The far side greeted; how long keys and hello may take. */
    long helloPatience() {
        long patience = hello;
        hello = Math.min(LONGEST_HELLO, hello * GROWTH);
        return patience;
    }

    /** An attempt failed, or a connection broke; how long to wait until the next. */
    long pause(long now) {
        endOldTrouble(now);
        return trying ? Math.clamp((now - since) / PAUSE_SHARE, SHORTEST_PAUSE, LONGEST_PAUSE) : SHORTEST_PAUSE;
    }

    /** The far side gave some sign, if only a refusal: silence is what the next attempt is not to be blamed for. */
    void heard() {
        tcp = FIRST_TCP;
        greeting = FIRST_GREETING;
    }

    /** The connection is open: if it stays so, the next trouble is a new one. */
    void opened(long now) {
        stood = true;
        stoodAt = now;
        restorePatience();
    }

    /** Nobody wants it any more: the next trouble is a new one. */
    void rest() {
        trying = false;
        stood = false;
        restorePatience();
    }

    private void endOldTrouble(long now) {
        trying &= !stood || now - stoodAt < STEADY;
        stood = false;
    }

    private void restorePatience() {
        tcp = FIRST_TCP;
        greeting = FIRST_GREETING;
        hello = FIRST_HELLO;
    }
}
