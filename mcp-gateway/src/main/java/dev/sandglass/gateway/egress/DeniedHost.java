package dev.sandglass.gateway.egress;

/**
 * A target that a sandbox asked for and does not reach.
 *
 * @param target host and port, as {@code example.com:443}
 * @param reason of the egress proxy, e.g. {@code not-allowed}
 * @param nanos when it was heard of, on this process's monotonic clock
 */
public record DeniedHost(String target, String reason, long nanos) {

    /** Whether an entry in {@code allowed_domains} would open it; else it leads to an address that no entry opens. */
    public boolean opensByEntry() {
        return reason.equals("not-allowed");
    }
}
