package dev.sandglass.gateway.egress;

/** A target that a sandbox asked for and does not reach. */
public sealed interface UnreachedHost {

    /** Host and port, as {@code example.com:443}. */
    String target();

    /** When it was heard of, on this process's monotonic clock. */
    long nanos();

    /**
     * The rules refuse it.
     *
     * @param reason of the egress proxy, e.g. {@code not-allowed}
     */
    record Denied(String target, String reason, long nanos) implements UnreachedHost {

        /** Whether an entry in {@code allowed_domains} would open it; else it leads to where no entry leads. */
        public boolean opensByEntry() {
            return reason.equals("not-allowed");
        }
    }

    /**
     * It is allowed, and no connection came about.
     *
     * @param why in the egress proxy's words, without a full stop
     */
    record Failed(String target, String why, long nanos) implements UnreachedHost {}
}
