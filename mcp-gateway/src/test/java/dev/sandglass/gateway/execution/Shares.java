package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.bound.ByteBudget;

/** What answers take their memory from in tests. */
final class Shares {

    private Shares() {}

    /** One that never ends. */
    static AnswerShare wide() {
        return of(Long.MAX_VALUE / 2);
    }

    /** One of so many bytes, besides what every answer has. */
    static AnswerShare of(long bytes) {
        return new AnswerShare(new ByteBudget(bytes, bytes).share("a tenant"));
    }
}
