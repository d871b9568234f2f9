package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A pool of the namespace of a sandbox.
 *
 * @param template what its seats are like
 * @param created the older of two pools is asked first
 * @param hash what its seats are made from now, see {@link SeatPod#hash}
 */
public record KnownPool(String name, PoolTemplate template, Instant created, String hash) {

    /** So many pools of a namespace give seats: each costs every start of a sandbox there a digest, and tenants make pools. */
    public static final int MOST = 32;

    static final Comparator<KnownPool> OLDEST_FIRST =
            Comparator.comparing(KnownPool::created).thenComparing(KnownPool::name);

    private static final Comparator<SandboxPool> MADE_FIRST = Comparator.comparing(KnownPool::madeAt)
            .thenComparing(pool -> pool.getMetadata().getName());

    /** The fields that have to be the same, in the order in which they are compared and reported. */
    enum Field {
        IMAGE("image"),
        MEMORY("memory"),
        CPUS("cpus"),
        DISK("disk"),
        RUNTIME_CLASS_NAME("runtimeClassName");

        private final String word;

        Field(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /** The {@value #MOST} oldest pools of a namespace, as their resources say; one that is being deleted gives no seats. */
    public static List<KnownPool> of(Collection<SandboxPool> pools, SeatPod.Making making) {
        return pools.stream()
                .filter(pool -> !pool.isMarkedForDeletion())
                .sorted(MADE_FIRST)
                .limit(MOST)
                .map(pool -> new KnownPool(
                        pool.getMetadata().getName(),
                        pool.wanted().template(),
                        madeAt(pool),
                        SeatPod.hash(pool, making)))
                .toList();
    }

    private static Instant madeAt(SandboxPool pool) {
        return Instant.parse(pool.getMetadata().getCreationTimestamp());
    }

    /** The first field in which a sandbox wants something else than this pool's seats are; empty if there is none. */
    Optional<Field> difference(SandboxSpec wanted, PodSettings settings) {
        if (!settings.images().resolve(wanted.image()).equals(settings.images().resolve(template.image()))) {
            return Optional.of(Field.IMAGE);
        }
        if (!same(wanted.memory(), template.memory())) {
            return Optional.of(Field.MEMORY);
        }
        if (!same(wanted.cpus(), template.cpus())) {
            return Optional.of(Field.CPUS);
        }
        if (!same(wanted.disk(), template.disk())) {
            return Optional.of(Field.DISK);
        }
        return Objects.equals(
                        settings.runtimeClasses().resolve(wanted.runtimeClassName()),
                        settings.runtimeClasses().resolve(template.runtimeClassName()))
                ? Optional.empty()
                : Optional.of(Field.RUNTIME_CLASS_NAME);
    }

    /** 1Gi and 1024Mi are the same. */
    private static boolean same(Quantity one, Quantity other) {
        return one.getNumericalAmount().compareTo(other.getNumericalAmount()) == 0;
    }
}
