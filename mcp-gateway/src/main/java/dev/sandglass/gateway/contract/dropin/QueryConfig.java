package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.api.TimeLimit;
import dev.sandglass.api.Workspace;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.config.ConfigFields;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads the configuration of a new sandbox from a URL's query, by the rules of the same fields as arguments. */
final class QueryConfig {

    private static final Set<String> SCALARS = Set.of("image", "memory", "cpus", "disk", "workspace", "runtime_class");
    private static final Set<String> DURATIONS = Set.of("idle_timeout", "max_lifetime", "retention");
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,18}");
    private static final String ENV = "env";
    private static final String DOMAINS = "allowed_domains";

    private QueryConfig() {}

    /** Every key that it reads. */
    static Set<String> keys() {
        Set<String> keys = new TreeSet<>(SCALARS);
        keys.addAll(DURATIONS);
        keys.add(ENV);
        keys.add(DOMAINS);
        return keys;
    }

    /** What the query says of a sandbox. */
    static SandboxConfig read(Query query) {
        try {
            return read(Arguments.of(fields(query)));
        } catch (InvalidArgument broken) {
            throw inUrl(broken);
        }
    }

    private static SandboxConfig read(Arguments config) {
        return new SandboxConfig(
                ConfigFields.image(config).orElse(null),
                config.quantity("memory", "Mi").orElse(null),
                config.quantity("cpus", "").orElse(null),
                config.quantity("disk", "Mi").orElse(null),
                config.variables(ENV).orElse(null),
                null,
                config.quantity("workspace", "Mi")
                        .map(size -> Workspace.of(size, null, null))
                        .orElse(null),
                ConfigFields.runtimeClass(config).orElse(null),
                config.timeLimit("idle_timeout", TimeLimit.IDLE_TIMEOUT).orElse(null),
                config.timeLimit("max_lifetime", TimeLimit.MAX_LIFETIME).orElse(null),
                config.timeLimit("retention", TimeLimit.RETENTION).orElse(null),
                null,
                ConfigFields.allowedDomains(config).orElse(null));
    }

    private static ObjectNode fields(Query query) {
        ObjectNode fields = JsonNodeFactory.instance.objectNode();
        SCALARS.forEach(key -> single(query, key).ifPresent(value -> fields.put(key, value)));
        DURATIONS.forEach(key -> single(query, key).ifPresent(value -> putDuration(fields, key, value)));
        List<String> env = decoded(query, ENV);
        if (!env.isEmpty()) {
            env.forEach(fields.putArray(ENV)::add);
        }
        List<String> domains = decoded(query, DOMAINS);
        if (!domains.isEmpty()) {
            ArrayNode each = fields.putArray(DOMAINS);
            domains.stream()
                    .flatMap(list -> Arrays.stream(list.split(",", -1)))
                    .filter(entry -> !entry.isEmpty())
                    .forEach(each::add);
        }
        return fields;
    }

    private static void putDuration(ObjectNode fields, String key, String value) {
        if (SECONDS.matcher(value).matches()) {
            fields.put(key, Long.parseLong(value));
        } else {
            fields.put(key, value);
        }
    }

    /** The one value of a key; empty if it is not given, or blank. */
    static Optional<String> single(Query query, String key) {
        List<String> given = decoded(query, key);
        if (given.size() > 1) {
            throw new InvalidArgument("'%s' must be given once".formatted(key));
        }
        return given.stream().filter(value -> !value.isBlank()).findFirst();
    }

    /** Says where the field stands. */
    static InvalidArgument inUrl(InvalidArgument broken) {
        return new InvalidArgument("in the URL: " + broken.text());
    }

    private static List<String> decoded(Query query, String key) {
        return query.values(key).stream().map(value -> decoded(key, value)).toList();
    }

    /** A plus sign stands for itself, as in any part of a URL: in the value of a variable it is none of a form. */
    private static String decoded(String key, String value) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException odd) {
            throw new InvalidArgument(
                    "'%s' has a '%%' without two hexadecimal digits behind it; write %%25 for the sign".formatted(key));
        }
    }
}
