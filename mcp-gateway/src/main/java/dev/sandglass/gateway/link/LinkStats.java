package dev.sandglass.gateway.link;

/**
 * What the links of this process have seen since its start.
 *
 * @param open connections that stand now
 * @param opened connections that stood at some time
 * @param broken connections that stood and broke
 * @param malformed messages of supervisors that were dropped because they break the protocol
 * @param stray messages that nobody waited for any more
 * @param openNetworks supervisors that got through to what their NetworkPolicies must close
 */
public record LinkStats(long open, long opened, long broken, long malformed, long stray, long openNetworks) {}
