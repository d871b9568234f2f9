package dev.sandglass.gateway.link;

import dev.sandglass.api.LinkSecret;

/** All links of this process. Thread-safe. */
public interface LinkClient extends AutoCloseable {

    /** The link to a sandbox; costs nothing, the connection is opened by its first use and closed again after idling. */
    Link link(LinkTarget target);

    /** What happened so far. */
    LinkStats stats();

    /** Closes every connection; what is under way fails. */
    @Override
    void close();

    /**
     * Starts the client's thread.
     *
     * @param settings see there
     * @param secret the installation's link secret, from which all keys are derived
     */
    static LinkClient start(LinkSettings settings, LinkSecret secret) {
        return JeroMqLinkClient.start(settings, secret);
    }
}
