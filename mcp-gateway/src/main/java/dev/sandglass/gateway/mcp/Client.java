package dev.sandglass.gateway.mcp;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which program a message comes from, where several have one API key. A session is a name for that and nothing else: no
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

    /** Gives the client a session of its own. */
    static void welcome(HttpExchange http) {
        http.add(SESSION, UUID.randomUUID().toString());
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
