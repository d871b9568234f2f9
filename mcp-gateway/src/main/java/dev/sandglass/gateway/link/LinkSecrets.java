package dev.sandglass.gateway.link;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The installation's link secrets. A pod keeps the keys that it was started with, so that the secret can be replaced while
 * sandboxes run: those of its time are spoken with by the previous one.
 *
 * @param current of which the keys of pods are made that start from now on
 * @param previous of which the keys of older pods were made; empty when there are none
 */
public record LinkSecrets(LinkSecret current, Optional<LinkSecret> previous) {

    /** One that was never replaced. */
    public static LinkSecrets of(LinkSecret secret) {
        return new LinkSecrets(secret, Optional.empty());
    }

    /**
     * Reads both.
     *
     * @param previous null, or a file that need not be there
     * @throws IOException if a file cannot be read
     * @throws IllegalArgumentException if a secret is too short
     */
    public static LinkSecrets read(Path current, @Nullable Path previous) throws IOException {
        Optional<LinkSecret> before =
                previous == null || !Files.exists(previous) ? Optional.empty() : Optional.of(LinkSecret.read(previous));
        return new LinkSecrets(LinkSecret.read(current), before);
    }

    /**
     * The keys for one attempt after another to reach a sandbox, without end. Nothing tells of which secret a pod's keys
     * are, and a far side with others closes the connection at once.
     */
    Iterator<LinkKeys> attempts(LinkTarget target) {
        List<LinkKeys> keys = Stream.concat(Stream.of(current), previous.stream())
                .map(secret -> LinkKeys.derive(secret, target.startedUid(), target.startedIncarnation()))
                .toList();
        return Stream.iterate(0, attempt -> (attempt + 1) % keys.size())
                .map(keys::get)
                .iterator();
    }
}
