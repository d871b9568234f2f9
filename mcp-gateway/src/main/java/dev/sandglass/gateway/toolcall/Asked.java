package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.frame.Blob;
import java.time.Duration;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** What code in a sandbox asks of the servers that it shares: the calls of pods, read with a bound on everything. */
sealed interface Asked {

    /** The kinds of calls that are read. */
    Set<String> KINDS = Set.of("tool_servers", "tool_list", "tool_call");

    /** Most characters of a server's or a tool's name. */
    int MAX_NAME = 256;

    /** The longest that a call may take, and what one without a timeout has. */
    Duration LONGEST = Duration.ofDays(1);

    /** Which servers there are. */
    record Servers() implements Asked {}

    /**
     * The tools of a server.
     *
     * @param server as code names it; need not be a name
     */
    record Tools(String server) implements Asked {}

    /**
     * To call a tool.
     *
     * @param server as code names it; need not be a name
     * @param tool as the server calls it
     * @param timeout how long the caller waits
     * @param arguments of the tool; whether they are a JSON object, the server's pod checks
     */
    record Call(String server, String tool, Duration timeout, Blob arguments) implements Asked {}

    /**
     * Reads a call.
     *
     * @throws dev.sandglass.gateway.link.frame.LinkException if it breaks a rule
     */
    static Asked read(PodCall call) {
        JsonNode given = call.arguments();
        return switch (call.kind()) {
            case "tool_servers" -> new Servers();
            case "tool_list" -> new Tools(text(given, "server"));
            case "tool_call" -> new Call(text(given, "server"), text(given, "tool"), timeout(given), call.blob());
            default -> throw new IllegalArgumentException("No call of the kind " + call.kind() + " is answered");
        };
    }

    private static String text(JsonNode given, String field) {
        String text = given.path(field).asString("");
        if (!given.path(field).isString() || !isName(text)) {
            throw CallProblem.FAILED.because("%s: must be a text of 1 to %d characters".formatted(field, MAX_NAME));
        }
        return text;
    }

    /** A name of a server or a tool: 1 to {@link #MAX_NAME} characters, of which one may take two units of Java. */
    static boolean isName(String text) {
        return !text.isEmpty() && text.codePointCount(0, text.length()) <= MAX_NAME;
    }

    private static Duration timeout(JsonNode given) {
        JsonNode value = given.path("timeout_s");
        if (value.isMissingNode() || value.isNull()) {
            return LONGEST;
        }
        double seconds = value.isNumber() ? value.doubleValue() : 0;
        if (!(seconds > 0)) {
            throw CallProblem.FAILED.because("timeout_s: must be a number of seconds, more than 0");
        }
        return seconds >= LONGEST.toSeconds() ? LONGEST : Duration.ofNanos(Math.max(1, (long) (seconds * 1e9)));
    }
}
