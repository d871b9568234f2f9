package dev.sandglass.gateway.link;

import java.time.Duration;

/**
 * The bounds of the links.
 *
 * @param peerName how this process calls itself in {@code hello}; shows in the supervisor's log
 * @param maxLinks how many connections there may be at once; each takes a file descriptor
 * @param idleAfter a connection without any use for so long is closed
 */
public record LinkSettings(String peerName, int maxLinks, Duration idleAfter) {

    /** 4,096 links, closed after 5 minutes. */
    public static LinkSettings defaults(String peerName) {
        return new LinkSettings(peerName, 4096, Duration.ofMinutes(5));
    }
}
