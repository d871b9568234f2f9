package dev.sandglass.operator.child;

import dev.sandglass.api.EnvRules;
import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The user's environment variables on their way to the supervisor: one JSON object in one variable. */
final class SandboxEnvironment {

    /** Linux takes no longer string in an environment (MAX_ARG_STRLEN, 32 pages), the name included. */
    private static final int MAX_ENCODED_BYTES = 128 * 1024 - 64;

    private SandboxEnvironment() {}

    /**
     * The JSON text. The kubelet replaces {@code $(NAME)} in values by other variables of the container, and the link's
     * secret key is one of them; so no dollar sign may reach it.
     */
    static String encoded(Sandbox sandbox) {
        return Serialization.asJson(sandbox.wanted().environment()).replace("$", "\\u0024");
    }

    static Optional<String> problem(Sandbox sandbox) {
        return EnvRules.problem(sandbox.wanted().environment())
                .or(() -> encoded(sandbox).getBytes(StandardCharsets.UTF_8).length > MAX_ENCODED_BYTES
                        ? Optional.of("environment variables with so many special characters need more than"
                                + " 128 KiB of JSON; keep such data in a file")
                        : Optional.empty());
    }
}
