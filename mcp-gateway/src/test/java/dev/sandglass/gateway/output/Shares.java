package dev.sandglass.gateway.output;

import dev.sandglass.gateway.quota.ByteBudget;

/** What answers take their memory from in tests. */
public final class Shares {

    private Shares() {}

    /** One that never ends. */
    public static AnswerShare wide() {
        return of(Long.MAX_VALUE / 2);
    }

    /** One of so many bytes, besides what every answer has. */
    public static AnswerShare of(long bytes) {
        return new AnswerShare(new ByteBudget(bytes, bytes).share("a tenant"));
    }
}
