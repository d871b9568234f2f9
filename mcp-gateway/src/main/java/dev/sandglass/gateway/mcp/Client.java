package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Contract;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which program a message comes from, where several have one API key. A session is a name for that; only a contract that
 * gives its own has more behind it. No
 * replica remembers it, whoever names none is known by the address, and rights never come from it (2025-11-25, streamable
 * HTTP, "Session management").
 *
 * @param name its session, or its address
 */
record Client(String name) {

    /** In the answer to {@code initialize}, and then in all that this client sends. */
    static final String SESSION = "Mcp-Session-Id";

    /**
     * The client's address as the replica saw it that passes its message on; such a one is not passed on again. Believed of
     * other replicas alone.
     */
    static final String PASSED_ON = "Sandglass-Client-Address";

    static final int MAX_SESSION_CHARS = 256;

    /** Gives the client a session of its own: that of the contract, or else a name for its cancellations. */
    static void welcome(HttpExchange http, Caller caller, Optional<Contract.Sessions> sessions) {
        http.add(SESSION, sessions.map(known -> known.begin(caller)).orElseGet(() -> UUID.randomUUID()
                .toString()));
    }

    /**
     * The contract's session that a message belongs to; empty if it names none. {@link McpError} with status 404 if the
     * contract does not know it (2025-11-25, "Session management", 3).
     */
    static Optional<String> session(HttpExchange http, Caller caller, Contract.Sessions sessions) {
        Optional<String> named = Optional.ofNullable(http.header(SESSION));
        if (named.isPresent() && !sessions.knows(caller, named.get())) {
            throw McpError.unknownSession();
        }
        return named;
    }

    /** Who sends a request; {@link McpError} if its session cannot be one. */
    static Client of(HttpExchange http, CancellationRelay others) {
        @Nullable String session = http.header(SESSION);
        if (session == null) {
            @Nullable String passedOn = others.areAt(http.peer()) ? http.header(PASSED_ON) : null;
            return new Client("address " + (passedOn == null ? http.clientAddress() : passedOn));
        }
        if (session.isEmpty()
                || session.length() > MAX_SESSION_CHARS
                || !session.chars().allMatch(letter -> letter > 0x20 && letter < 0x7f)) {
            throw McpError.invalidRequest("header " + SESSION + " must be 1 to " + MAX_SESSION_CHARS
                    + " visible ASCII characters: send what the answer to 'initialize' had, or leave it out");
        }
        return new Client("session " + session);
    }
}
