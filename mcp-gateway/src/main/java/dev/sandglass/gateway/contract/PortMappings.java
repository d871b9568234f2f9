package dev.sandglass.gateway.contract;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Reads the ports of a sandbox in the forms that callers use: numbers, or the {@code host:container} texts of
 * contracts.md M10. There is no host on which a port could be opened, so that its part says nothing here.
 */
final class PortMappings {

    private static final Pattern TEXT = Pattern.compile("(?:([0-9]{1,5}):)?([0-9]{1,5})(?:/tcp)?");

    private PortMappings() {}

    static List<SandboxPort> read(String field, JsonNode node) {
        if (!node.isArray() || node.size() > SandboxPort.MAX_ENTRIES) {
            throw new InvalidArgument(
                    "'%s' must be a list of at most %d ports".formatted(field, SandboxPort.MAX_ENTRIES));
        }
        var ports = new ArrayList<SandboxPort>(node.size());
        var seen = new HashSet<Integer>();
        for (JsonNode item : node) {
            String place = "%s[%d]".formatted(field, ports.size());
            int port = number(item).filter(SandboxPort::allowed).orElseThrow(() -> broken(place));
            if (!seen.add(port)) {
                throw new InvalidArgument(
                        "'%s' names port %d a second time; name each port once".formatted(place, port));
            }
            ports.add(new SandboxPort(null, port));
        }
        return List.copyOf(ports);
    }

    /** Whether somebody expects a port of a host to be opened. */
    static boolean nameHosts(JsonNode node) {
        for (JsonNode item : node) {
            if (item.isString() && item.asString().indexOf(':') >= 0) {
                return true;
            }
        }
        return false;
    }

    private static Optional<Integer> number(JsonNode item) {
        OptionalLong number = WholeNumbers.read(item);
        if (number.isPresent()) {
            return Optional.of(Math.clamp(number.getAsLong(), Integer.MIN_VALUE, Integer.MAX_VALUE));
        }
        Matcher text = TEXT.matcher(item.isString() ? item.asString() : "");
        return text.matches() ? Optional.of(Integer.parseInt(text.group(2))) : Optional.empty();
    }

    private static InvalidArgument broken(String place) {
        return new InvalidArgument(
                "'%s' must be a port of the sandbox from %d to %d other than %d, as number or as 'host:container'"
                        .formatted(place, SandboxPort.MIN, SandboxPort.MAX, SandboxLabels.LINK_PORT));
    }
}
