package dev.sandglass.gateway.contract;

import java.time.Duration;
import java.util.Optional;

/**
 * What is promised to the clients of one path below {@code /mcp}: the server's name, its instructions, prompts and tools,
 * with their own names, parameters, texts and error words. Several contracts stand beside each other over the same use
 * cases; the protocol serves them all and knows none.
 */
public interface Contract {

    /** The one segment below {@code /mcp} where it is served, lower case; empty for {@code /mcp} itself. */
    String path();

    /**
     * What requests with that query are offered. Without a query a contract offers every tool that it has.
     *
     * @throws InvalidArgument if the query breaks a rule
     */
    Offer offer(Query query);

    /**
     * How long a client waits for any answer, as the query says; empty if that says nothing.
     *
     * @throws InvalidArgument if the query breaks a rule
     */
    default Optional<Duration> patience(Query query) {
        return Optional.empty();
    }
}
