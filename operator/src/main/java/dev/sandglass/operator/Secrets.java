package dev.sandglass.operator;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkSecret;
import java.io.IOException;
import java.util.Optional;

/**
 * The installation's secrets, which have nothing to do with each other.
 *
 * @param link the keys of all links derive from it
 * @param egress the credentials of all sandboxes at the egress proxy derive from it; empty if there is no proxy
 */
record Secrets(LinkSecret link, Optional<EgressSecret> egress) {

    /** Reads the mounted files. */
    static Secrets read(OperatorSettings settings) throws IOException {
        Optional<EgressSecret> egress = settings.egress().isPresent()
                ? Optional.of(EgressSecret.read(settings.egress().get().secretFile()))
                : Optional.empty();
        return new Secrets(LinkSecret.read(settings.linkSecretFile()), egress);
    }
}
