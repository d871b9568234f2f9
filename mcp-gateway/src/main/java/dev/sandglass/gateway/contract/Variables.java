package dev.sandglass.gateway.contract;

import dev.sandglass.api.EnvRules;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads environment variables for code in the forms that callers use; the rules are those of the resource. */
public final class Variables {

    private Variables() {}

    /**
     * The form that every client's schemas can say; an object of texts is taken too. Strict modes of models' endpoints refuse
     * an object whose names are not fixed.
     */
    public static Schema schema(String description) {
        return Schema.list(description + ", each 'KEY=VALUE'", Schema.ofType("string"));
    }

    /** The {@code KEY=VALUE} list of contracts.md M11. */
    public static Map<String, String> ofPairs(String field, List<String> pairs) {
        var map = new LinkedHashMap<String, String>();
        for (int i = 0; i < pairs.size(); i++) {
            int equals = pairs.get(i).indexOf('=');
            if (equals < 0) {
                throw new InvalidArgument("'%s[%d]' must be of the form KEY=VALUE".formatted(field, i));
            }
            map.put(pairs.get(i).substring(0, equals), pairs.get(i).substring(equals + 1));
        }
        return checked(field, map);
    }

    public static Map<String, String> checked(String field, Map<String, String> variables) {
        EnvRules.problem(variables).ifPresent(problem -> {
            throw new InvalidArgument("'%s': %s".formatted(field, problem));
        });
        return Map.copyOf(variables);
    }
}
