package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.api.SandboxLabels;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a gateway learned of a tool server when it last began to talk to it. The gateway notes it in the annotation
 * {@link SandboxLabels#MCP_HANDSHAKE} of the server's Sandbox; the operator copies it into the tool server's status (ADR 0028).
 * Whatever it is made of, what it holds is clean and bounded.
 *
 * @param uid of the tool server
 * @param generation of the spec with which the server was started
 * @param done whether the server answered as an MCP server does; else it did not start, or did not answer so
 * @param serverInfo what it says of itself; null if it did not answer
 * @param toolCount how many tools it has; null if that is not known
 * @param toolsHash digest of their names and schemas, {@code sha256:} and 64 hexadecimal digits; null if it is not known
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ServerHandshake(
        String uid,
        long generation,
        boolean done,
        @Nullable ServerInfo serverInfo,
        @Nullable Integer toolCount,
        @Nullable String toolsHash) {

    /** Most tools that are counted. */
    public static final int MAX_TOOLS = 1_000_000;

    /** Most characters of a note that is read; one that is written has fewer. */
    static final int MAX_NOTE = 4096;

    static final Pattern HASH = Pattern.compile("sha256:[0-9a-f]{64}");

    private static final ObjectMapper JSON = new ObjectMapper();

    public ServerHandshake(
            @Nullable String uid,
            long generation,
            boolean done,
            @Nullable ServerInfo serverInfo,
            @Nullable Integer toolCount,
            @Nullable String toolsHash) {
        this.uid = uid == null ? "" : uid;
        this.generation = generation;
        this.done = done;
        this.serverInfo = done ? serverInfo : null;
        this.toolCount = done && toolCount != null ? Math.max(0, Math.min(toolCount, MAX_TOOLS)) : null;
        this.toolsHash = done && toolsHash != null && HASH.matcher(toolsHash).matches() ? toolsHash : null;
    }

    /** One with a server that did not start, or did not answer as an MCP server does. */
    public static ServerHandshake failed(String uid, long generation) {
        return new ServerHandshake(uid, generation, false, null, null, null);
    }

    /** What a note says; empty if there is none, or it is not one. */
    public static Optional<ServerHandshake> read(@Nullable String note) {
        if (note == null || note.length() > MAX_NOTE) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(JSON.readValue(note, ServerHandshake.class));
        } catch (JsonProcessingException odd) {
            return Optional.empty();
        }
    }

    /** The note that says this. */
    public String note() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("Texts and numbers are JSON", impossible);
        }
    }

    /** Whether it was with that tool server as it is now. */
    public boolean isOf(SandboxToolServer server) {
        Long now = server.getMetadata().getGeneration();
        return uid.equals(server.getMetadata().getUid()) && now != null && now == generation;
    }
}
