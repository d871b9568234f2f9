package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Query;
import java.util.List;

/** In which form a result is written for the model (contracts.md X8). */
enum OutputForm {
    /** Output as it is, with a line in front if it did not go well. */
    COMPACT,
    /** The whole payload as a block of JSON. */
    JSON;

    /** The key of the URL's query. */
    static final String KEY = "output";

    /** That of a URL. */
    static OutputForm of(Query query) {
        List<String> given = query.values(KEY);
        if (given.isEmpty() || given.equals(List.of("compact"))) {
            return COMPACT;
        }
        if (given.equals(List.of("json"))) {
            return JSON;
        }
        throw new InvalidArgument("'output' in the URL must be compact or json, given once");
    }
}
