package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which of several servers that agents registered under one name for one sandbox counts, and which of them are deleted
 * when. A server that is registered anew stands beside the former one until it runs: the first counts, and a deletion hands
 * its name on (ADR 0026). No gateway changes a resource, so that this is all there is to agree on. Pure.
 */
final class Succession {

    /** A registration takes less time, from the resource to its end. One that stands aside longer has no gateway left. */
    static final Duration LONGEST = Duration.ofMinutes(15);

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,15}");

    /** By the number that each got; of two gateways that gave out the same, any order is one for all. */
    static final Comparator<SandboxToolServer> ORDER = Comparator.comparingLong(Succession::number)
            .thenComparing(resource -> resource.getMetadata().getName());

    private Succession() {}

    /** Which registration of its name it is; 0 for what a gateway of an older release made. */
    static long number(SandboxToolServer resource) {
        Map<String, String> annotations = resource.getMetadata().getAnnotations();
        String number = annotations == null ? "" : annotations.getOrDefault(SandboxLabels.REGISTRATION, "");
        return NUMBER.matcher(number).matches() ? Long.parseLong(number) : 0;
    }

    /** The number of a registration that comes after these. */
    static long next(Collection<SandboxToolServer> named) {
        return 1 + named.stream().mapToLong(Succession::number).max().orElse(0);
    }

    /** The one that code calls; one that is about to go no longer counts. */
    static Optional<SandboxToolServer> serving(Collection<SandboxToolServer> named) {
        return named.stream()
                .filter(resource -> resource.getMetadata().getDeletionTimestamp() == null)
                .min(ORDER);
    }

    /** Those that a new registration overtakes: they wait to take the name over, and never do. */
    static List<SandboxToolServer> overtaken(Collection<SandboxToolServer> named) {
        Optional<SandboxToolServer> serving = serving(named);
        return named.stream()
                .filter(resource -> serving.filter(resource::equals).isEmpty())
                .toList();
    }

    /** Those before one that runs now: it counts when they are gone. The one that counts until then comes last. */
    static List<SandboxToolServer> before(Collection<SandboxToolServer> named, SandboxToolServer made) {
        return named.stream()
                .filter(resource -> ORDER.compare(resource, made) < 0)
                .sorted(ORDER.reversed())
                .toList();
    }

    /** Those that stand aside for so long that the gateway which made them must be gone. */
    static List<SandboxToolServer> abandoned(Collection<SandboxToolServer> named, Instant now) {
        return overtaken(named).stream()
                .filter(resource -> created(resource)
                        .filter(created -> created.plus(LONGEST).isBefore(now))
                        .isPresent())
                .toList();
    }

    private static Optional<Instant> created(SandboxToolServer resource) {
        ObjectMeta meta = resource.getMetadata();
        try {
            return Optional.ofNullable(meta.getCreationTimestamp()).map(Instant::parse);
        } catch (DateTimeParseException odd) {
            return Optional.empty();
        }
    }
}
