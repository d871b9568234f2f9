package dev.sandglass.gateway.toolcall;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** A digest of the names and schemas of a server's tools, whatever their order; of so many of them. Not thread-safe. */
final class ToolsHash {

    private final MessageDigest sha256;
    private final List<byte[]> tools = new ArrayList<>();

    ToolsHash() {
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }

    /** Where in a list something stands. */
    record Part(int from, int to) {
        /** It is not there. */
        static final Part NONE = new Part(0, 0);
    }

    /**
     * Adds a tool.
     *
     * @param name of it
     * @param list in which its schemas stand, of its arguments and of its results
     */
    void add(String name, byte[] list, Part input, Part output) {
        if (tools.size() == ToolListing.MOST) {
            return;
        }
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        part(text, new Part(0, text.length));
        part(list, input);
        part(list, output);
        tools.add(sha256.digest());
    }

    /** With its length before it, so that no text passes into the next one. */
    private void part(byte[] bytes, Part part) {
        int length = part.to() - part.from();
        sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, length));
        sha256.update(bytes, part.from(), length);
    }

    /** As a status has it. */
    String text() {
        tools.stream().sorted(Arrays::compare).forEach(sha256::update);
        return "sha256:" + HexFormat.of().formatHex(sha256.digest());
    }
}
