package dev.sandglass.operator.pod;

import dev.sandglass.api.EnvRules;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/** The environment variables of the code on their way to the supervisor: one JSON object in one variable. */
public final class CodeVariables {

    /** Linux takes no longer string in an environment (MAX_ARG_STRLEN, 32 pages), the name included. */
    private static final int MAX_ENCODED_BYTES = 128 * 1024 - 64;

    private CodeVariables() {}

    /**
     * The JSON text. The kubelet replaces {@code $(NAME)} in values by other variables of the container, and the link's
     * secret key is one of them; so no dollar sign may reach it.
     */
    static String encoded(Map<String, String> environment) {
        return Serialization.asJson(environment).replace("$", "\\u0024");
    }

    /** Says what keeps them from the supervisor; empty if nothing does. */
    public static Optional<String> problem(Map<String, String> environment) {
        return EnvRules.problem(environment)
                .or(() -> encoded(environment).getBytes(StandardCharsets.UTF_8).length > MAX_ENCODED_BYTES
                        ? Optional.of("environment variables with so many special characters need more than"
                                + " 128 KiB of JSON; keep such data in a file")
                        : Optional.empty());
    }
}
