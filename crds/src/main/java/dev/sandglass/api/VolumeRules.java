package dev.sandglass.api;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The rules for a sandbox's volumes, with messages for their author. The schema has the same rules. */
public final class VolumeRules {

    /** Most volumes of a sandbox. */
    public static final int MAX_VOLUMES = 16;

    /** Longest mount path. */
    public static final int MAX_PATH_LENGTH = 256;

    /** Longest name of a claim, a ConfigMap or a Secret, as Kubernetes has it. */
    public static final int MAX_OBJECT_LENGTH = 253;

    /**
     * Beginning of the names of Secrets that may be mounted. A label would be read with the right that also reads the
     * Secret, and the operator has none; the Secret's author chooses the name, and it never changes (ADR-0006).
     */
    public static final String SECRET_PREFIX = "mountable-";

    static final int MAX_NAME_LENGTH = 40;
    static final int MAX_SIZE_LENGTH = 20;
    static final String NAME_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    static final String OBJECT_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

    /** Neither a colon, which separates paths, nor a dollar sign, which the kubelet might expand. */
    static final String PATH_PATTERN = "^(/\\.?[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)+$";

    /**
     * What belongs to the image, the node or the supervisor, other names for it, such as /var/run, begin in one of these;
     * and what the code can write and a container leaves behind: a link there leads the next mount anywhere (ADR-0006).
     */
    static final String TAKEN_PATTERN =
            "^/(app|bin|boot|dev|etc|lib|lib32|lib64|libx32|opt|proc|root|run|sbin|sys|tmp|usr|var|workspace)(/.*)?$";

    static final String SIZE_PATTERN = "^[0-9]{1,15}(k|M|G|T|Ki|Mi|Gi|Ti)?$";

    private static final Pattern NAME = Pattern.compile(NAME_PATTERN);
    private static final Pattern OBJECT = Pattern.compile(OBJECT_PATTERN);
    private static final Pattern PATH = Pattern.compile(PATH_PATTERN);
    private static final Pattern TAKEN = Pattern.compile(TAKEN_PATTERN);
    private static final Pattern SIZE = Pattern.compile(SIZE_PATTERN);

    private VolumeRules() {}

    /** Says what is wrong with volumes of which none is scratch room, which the disk bounds; empty if nothing is. */
    public static Optional<String> problem(List<Volume> volumes) {
        return problem(volumes, new Quantity("0"));
    }

    /**
     * Says what is wrong with the volumes of a sandbox.
     *
     * @param disk bound of each scratch volume
     * @return empty if nothing is wrong
     */
    public static Optional<String> problem(List<Volume> volumes, Quantity disk) {
        if (volumes.size() > MAX_VOLUMES) {
            return Optional.of("at most " + MAX_VOLUMES + " volumes are allowed, not " + volumes.size());
        }
        Set<String> names = new HashSet<>();
        for (Volume volume : volumes) {
            Optional<String> problem = volumeProblem(volume, disk)
                    .or(() -> names.add(volume.name()) ? Optional.empty() : Optional.of("the name is there twice"))
                    .or(() -> overlap(volume, volumes))
                    .map(why -> "volume '" + shortened(volume.name()) + "': " + why);
            if (problem.isPresent()) {
                return problem;
            }
        }
        return Optional.empty();
    }

    /** Says what is wrong with a mount path by itself. */
    public static Optional<String> pathProblem(String path) {
        if (path.length() > MAX_PATH_LENGTH || !PATH.matcher(path).matches()) {
            return Optional.of("'" + shortened(path) + "' is not a path to mount at: absolute, at most "
                    + MAX_PATH_LENGTH + " letters, digits and ._@+-, without '.', '..' and a slash at the end,"
                    + " for example /data");
        }
        return TAKEN.matcher(path).matches()
                ? Optional.of("nothing can be mounted at '" + shortened(path) + "': " + VolumeSchemaRules.PATH_TAKEN)
                : Optional.empty();
    }

    /** Says what is wrong with the name of a claim, a ConfigMap or a Secret. */
    public static Optional<String> objectProblem(String name) {
        return name.length() > MAX_OBJECT_LENGTH || !OBJECT.matcher(name).matches()
                ? Optional.of(
                        "'" + shortened(name) + "' is not the name of an object of Kubernetes: lower-case letters,"
                                + " digits, hyphens and dots, at most " + MAX_OBJECT_LENGTH)
                : Optional.empty();
    }

    private static Optional<String> volumeProblem(Volume volume, Quantity disk) {
        if (volume.name().length() > MAX_NAME_LENGTH
                || !NAME.matcher(volume.name()).matches()) {
            return Optional.of("a name has at most " + MAX_NAME_LENGTH + " lower-case letters, digits and hyphens");
        }
        long sources = Stream.of(volume.persistentVolumeClaim(), volume.configMap(), volume.secret(), volume.emptyDir())
                .filter(source -> source != null)
                .count();
        if (sources != 1) {
            return Optional.of(VolumeSchemaRules.NOT_ONE_SOURCE);
        }
        boolean fixed = volume.configMap() != null || volume.secret() != null;
        if (fixed && !volume.onlyReads()) {
            return Optional.of(VolumeSchemaRules.NOT_WRITABLE);
        }
        return pathProblem(volume.mountPath()).or(() -> sourceProblem(volume, disk));
    }

    private static Optional<String> sourceProblem(Volume volume, Quantity disk) {
        if (volume.persistentVolumeClaim() != null) {
            return objectProblem(volume.persistentVolumeClaim().claimName());
        }
        if (volume.configMap() != null) {
            return objectProblem(volume.configMap().name());
        }
        if (volume.secret() != null) {
            String name = volume.secret().secretName();
            return name.startsWith(SECRET_PREFIX) ? objectProblem(name) : Optional.of(VolumeSchemaRules.SECRET_CLOSED);
        }
        return sizeProblem(volume, disk);
    }

    private static Optional<String> sizeProblem(Volume volume, Quantity disk) {
        String limit = volume.emptyDir() == null ? null : volume.emptyDir().sizeLimit();
        if (limit == null) {
            return volume.onlyReads() ? Optional.of(VolumeSchemaRules.ALWAYS_EMPTY) : Optional.empty();
        }
        if (!SIZE.matcher(limit).matches()) {
            return Optional.of("emptyDir.sizeLimit must be a size such as 512Mi");
        }
        BigDecimal bytes = new Quantity(limit).getNumericalAmount();
        return bytes.signum() == 0 || bytes.compareTo(disk.getNumericalAmount()) > 0
                ? Optional.of("emptyDir.sizeLimit must be more than 0 and at most spec.disk, which is " + disk)
                : Optional.empty();
    }

    /** A mount in a volume would need a folder there, which a volume that can only be read does not get. */
    private static Optional<String> overlap(Volume volume, List<Volume> all) {
        return all.stream()
                .filter(other -> !other.equals(volume))
                .map(Volume::mountPath)
                .filter(other ->
                        volume.mountPath().equals(other) || volume.mountPath().startsWith(other + "/"))
                .findFirst()
                .map(other -> "'" + shortened(volume.mountPath()) + "' lies at or below '" + shortened(other)
                        + "', the path of another volume");
    }

    private static String shortened(String text) {
        return text.length() <= 63 ? text : text.substring(0, 63) + "…";
    }
}
