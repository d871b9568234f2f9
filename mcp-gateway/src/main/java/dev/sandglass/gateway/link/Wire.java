package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.call.ReplyWire;

/** One attempt at a connection: opened once, broken once, never mended. Owner thread only. */
interface Wire extends ReplyWire {

    /** Ends it; nothing that was not sent yet is sent. */
    void close();

    /** Where wires come from. */
    @FunctionalInterface
    interface Source {
        /** Begins to connect; tells the connection what becomes of it. */
        Wire open(Connection connection);
    }
}
