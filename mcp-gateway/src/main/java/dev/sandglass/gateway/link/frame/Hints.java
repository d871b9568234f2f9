package dev.sandglass.gateway.link.frame;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.NextStep.RunCommand.Purpose;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The hint that goes with an outcome: what to do next, as the supervisor knows it. The pod does not know in which
 * contract's words a caller is told. Pure.
 */
final class Hints {

    /** Most hosts that a hint tells of; a supervisor tells three. */
    static final int MAX_HOSTS = 8;

    // A name of 255 characters, or an address in brackets, and a port.
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]-]{1,261}");

    private Hints() {}

    /** Null if there is none, or none that is known here: a newer supervisor may have more of them. */
    static @Nullable NextStep parse(JsonNode json) {
        return switch (json.path("kind").asString("")) {
            case "stop_and_start" -> NextStep.Plain.STOP_AND_START;
            case "end_a_session" -> NextStep.Plain.END_A_SESSION;
            case "more_time" -> NextStep.Plain.MORE_TIME;
            case "free_memory" -> NextStep.Plain.FREE_MEMORY;
            case "install" -> command(Purpose.INSTALL, json);
            case "upgrade" -> command(Purpose.UPGRADE, json);
            case "make" -> command(Purpose.MAKE, json);
            case "allow_hosts" -> new NextStep.AllowHosts(hosts(json.path("hosts")));
            default -> null;
        };
    }

    /** A part of a command is another command: one that is too long is none. */
    private static @Nullable NextStep command(Purpose purpose, JsonNode json) {
        String line = json.path("line").asString("");
        if (line.length() > InboundFrames.MAX_WORDS) {
            return null;
        }
        String shown = ForeignText.line(line, InboundFrames.MAX_WORDS);
        return shown.isEmpty() ? null : new NextStep.RunCommand(purpose, shown);
    }

    private static List<String> hosts(JsonNode json) {
        return StreamSupport.stream(json.spliterator(), false)
                .limit(MAX_HOSTS)
                .map(host -> host.asString(""))
                .filter(host -> HOST.matcher(host).matches())
                .toList();
    }
}
