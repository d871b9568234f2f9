package dev.sandglass.gateway.link.call;

/** Where answers go. Owner thread only. */
public interface ReplyWire {

    /** Sends a message; before the connection stands it waits for that. */
    void send(byte[][] frames);

    /** Whether the far side reads what is sent; what is long waits until it does. */
    boolean isReady();
}
