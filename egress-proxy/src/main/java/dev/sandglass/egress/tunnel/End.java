package dev.sandglass.egress.tunnel;

import java.util.Locale;

/** Why a tunnel ended. */
public enum End {
    /** One of both sides closed it. */
    CLOSED,
    /** It was never opened. */
    REFUSED,
    /** Nothing passed for too long. */
    IDLE,
    /** The sandbox's list lost the entry, or the sandbox its pod. */
    RULE_GONE,
    /** The sandbox has passed all the bytes it may. */
    QUOTA,
    /** The sandbox or the server took no bytes, while all tunnels together held too many. */
    STALLED,
    /** TLS asked for another name than the tunnel, or for none, or was no TLS. */
    SERVER_NAME,
    /** The client said too slowly whom it asks for. */
    HELLO_TOO_SLOW,
    /** A request's body was malformed. */
    MALFORMED,
    /** A connection broke. */
    BROKEN;

    public String code() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
