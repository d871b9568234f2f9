package dev.sandglass.gateway.egress;

import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the stream of one replica of the egress proxy, piece by piece. What is neither a denial nor a failure is left
 * out.
 */
final class DenialLines {

    /** Longest line; one has a host of at most 253 letters and names of the cluster. */
    static final int MAX_BYTES = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(DenialLines.class);
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final int MAX_TEXT = 300;
    private static final int MAX_SENTENCE = 120;
    private static final int MAX_PORT = 65_535;

    private final DeniedHosts hosts;
    private final byte[] line = new byte[MAX_BYTES];
    private int length;
    private boolean tooLong;

    DenialLines(DeniedHosts hosts) {
        this.hosts = hosts;
    }

    /** Takes the next bytes. */
    void add(byte[] bytes) {
        for (byte letter : bytes) {
            if (letter == '\n') {
                ended();
            } else if (length == MAX_BYTES) {
                tooLong = true;
            } else {
                line[length++] = letter;
            }
        }
    }

    private void ended() {
        if (length > 0 && !tooLong) {
            read(new String(line, 0, length, StandardCharsets.UTF_8));
        }
        length = 0;
        tooLong = false;
    }

    private void read(String text) {
        JsonNode told;
        try {
            told = JSON.readTree(text);
        } catch (JacksonException e) {
            LOG.debug("A line of the egress proxy is no JSON");
            return;
        }
        String uid = told.path("sandboxUid").asString("");
        String host = told.path("host").asString("");
        int port = told.path("port").asInt(0);
        String reason = told.path("reason").asString("");
        String failure = told.path("failure").asString("");
        if (!fits(uid) || !fits(host) || port < 1 || port > MAX_PORT) {
            return;
        }
        if (fits(reason)) {
            hosts.note(uid, host + ":" + port, reason);
        } else if (isSentence(failure)) {
            hosts.noteFailure(uid, host + ":" + port, failure);
        }
    }

    private static boolean isSentence(String text) {
        return !text.isEmpty() && text.length() <= MAX_SENTENCE && text.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    }

    private static boolean fits(String text) {
        return !text.isEmpty() && text.length() <= MAX_TEXT && text.chars().allMatch(c -> c > ' ' && c < 0x7f);
    }
}
