package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Query;
import java.util.List;

/** In which form a result is written for the model (contracts.md X8). */
enum OutputForm {
    /** Output as it is, with a line in front if it did not go well. */
    COMPACT,
    /** The whole payload as a block of TOON. */
    TOON,
    /** The whole payload as a block of JSON. */
    JSON;

    /** The key of the URL's query. */
    static final String KEY = "output";

    /** That of a URL. */
    static OutputForm of(Query query) {
        List<String> given = query.values(KEY);
        if (given.isEmpty()) {
            return COMPACT;
        }
        return switch (given.size() == 1 ? given.getFirst() : "") {
            case "compact" -> COMPACT;
            case "toon" -> TOON;
            case "json" -> JSON;
            default -> throw new InvalidArgument("'output' in the URL must be compact, toon or json, given once");
        };
    }
}
