package dev.sandglass.gateway.link;

/** One attempt at a connection: opened once, broken once, never mended. Owner thread only. */
interface Wire {

    /** Sends a message; before the connection stands it waits for that. */
    void send(byte[][] frames);

    /** Whether the far side reads what is sent; what is long waits until it does. */
    boolean isReady();

    /** Ends it; nothing that was not sent yet is sent. */
    void close();

    /** Where wires come from. */
    @FunctionalInterface
    interface Source {
        /** Begins to connect; tells the connection what becomes of it. */
        Wire open(Connection connection);
    }
}
