package dev.sandglass.egress.tunnel;

/** Limits in words, for those who meet them. */
public final class Limited {

    private Limited() {}

    public static String sentence(Outcome outcome, Limits limits) {
        return switch (outcome) {
            case TOO_MANY_TUNNELS -> "this sandbox has " + limits.tunnels() + " connections open, the most it may have";
            case TOO_MANY_NEW_TUNNELS ->
                "this sandbox opened more than " + limits.newTunnels() + " connections within a second";
            case QUOTA_EXCEEDED -> "this sandbox has passed " + limits.bytes() + " bytes, the most it may pass";
            case ALLOWED,
                    MALFORMED,
                    NOT_ALLOWED,
                    ADDRESS_DENIED,
                    UNKNOWN_SANDBOX,
                    HEAD_TOO_SLOW,
                    HEAD_TOO_LONG,
                    LOOKUP_FAILED,
                    CONNECT_FAILED,
                    NOT_READY -> throw new IllegalArgumentException(outcome + " is no limit of a sandbox");
        };
    }
}
