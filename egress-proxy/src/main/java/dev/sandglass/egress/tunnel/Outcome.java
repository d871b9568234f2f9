package dev.sandglass.egress.tunnel;

import java.util.Locale;

/** What became of a request; the code stands in {@code X-Proxy-Error}, in the audit line and in metrics. */
public enum Outcome {
    ALLOWED(200, "OK"),
    MALFORMED(400, "Bad Request"),
    NOT_ALLOWED(403, "Forbidden"),
    ADDRESS_DENIED(403, "Forbidden"),
    UNKNOWN_SANDBOX(407, "Proxy Authentication Required"),
    HEAD_TOO_SLOW(408, "Request Timeout"),
    TOO_MANY_TUNNELS(429, "Too Many Requests"),
    TOO_MANY_NEW_TUNNELS(429, "Too Many Requests"),
    QUOTA_EXCEEDED(429, "Too Many Requests"),
    HEAD_TOO_LONG(431, "Request Header Fields Too Large"),
    LOOKUP_FAILED(502, "Bad Gateway - DNS lookup failed"),
    CONNECT_FAILED(502, "Bad Gateway - server not reached"),
    NOT_READY(503, "Service Unavailable");

    private final int status;
    private final String reason;

    Outcome(int status, String reason) {
        this.status = status;
        this.reason = reason;
    }

    int status() {
        return status;
    }

    /** For the status line. Of the answer to a CONNECT most clients show nothing else. */
    String reason() {
        return reason;
    }

    /** Whether the target is allowed, and the way to it failed. */
    public boolean isOfTheWay() {
        return this == LOOKUP_FAILED || this == CONNECT_FAILED;
    }

    /** In lower case with hyphens. */
    public String code() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
