package dev.sandglass.gateway.contract;

import dev.sandglass.gateway.caller.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * What is promised to the clients of one path below {@code /mcp}: the server's name, its instructions, prompts and tools,
 * with their own names, parameters, texts and error words. Several contracts stand beside each other over the same use
 * cases; the protocol serves them all and knows none.
 */
public interface Contract {

    /** The one segment below {@code /mcp} where it is served, lower case; empty for {@code /mcp} itself. */
    String path();

    /** Every tool that it offers to some query; by default those of a request without one. */
    default List<Tool> tools() {
        return offer(Query.NONE).tools();
    }

    /**
     * What requests with that query are offered.
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

    /**
     * The sessions that it gives to clients that {@code initialize}; empty if it has none for that query. Then a session is
     * a client's name for cancellations alone, and has no end.
     *
     * @throws InvalidArgument if the query breaks a rule
     */
    default Optional<Sessions> sessions(Query query) {
        return Optional.empty();
    }

    /** Sessions of MCP with something behind them. A replica remembers none: any replica knows them all. */
    interface Sessions {

        /** A new session of that caller: 1 to 256 visible ASCII characters. */
        String begin(Caller caller);

        /** Whether it was given to that caller here, and not ended. Safe on text from anywhere. */
        boolean knows(Caller caller, String session);

        /** The sandbox behind one that it knows, for the audit log. */
        Tool.Subject subject(Caller caller, String session);

        /** Forgets one that it knows, which another replica has ended. */
        void forget(String session);

        /** Ends one that it knows, and what is behind it; errors with {@link dev.sandglass.gateway.sandbox.SandboxProblem}. */
        Mono<Void> end(Caller caller, String session);
    }
}
