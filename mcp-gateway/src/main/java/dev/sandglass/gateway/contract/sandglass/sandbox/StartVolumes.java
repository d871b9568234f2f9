package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.Volume;
import dev.sandglass.api.VolumeRules;
import dev.sandglass.api.Workspace;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads {@code config.volumes} and {@code config.workspace} of {@code sandbox_start}. In contracts.md, M9 has {@code host:guest}
 * there; here the left side is a claim, since nobody's host is within reach of a sandbox.
 */
final class StartVolumes {

    /** Claim, path and mode together, with their colons. */
    private static final int MAX_CHARS = VolumeRules.MAX_OBJECT_LENGTH + VolumeRules.MAX_PATH_LENGTH + 4;

    /** What stands before the path on other systems: a folder of the caller's machine, written in any of the usual ways. */
    private static final Pattern HOST_PATH =
            Pattern.compile("([^:]*[/\\\\][^:]*|[~$][^:]*|\\.{1,2})(:.*)?|[A-Za-z]:(\\\\.*|/.*:/.*)");

    private static final Set<String> WORKSPACE_FIELDS = Set.of("size", "storage_class", "keep");

    private StartVolumes() {}

    static Schema volumesSchema() {
        return Schema.list("PersistentVolumeClaims, each 'claim:/path' or 'claim:/path:rw'", Schema.ofType("string"));
    }

    static Schema workspaceSchema() {
        return Schema.anyOf(
                "Size of a /workspace that survives a stop, e.g. '5Gi'",
                Schema.ofType("string"),
                Schema.ofType("integer"),
                Schema.object()
                        .required("size", Schema.ofType("string"))
                        .optional("storage_class", Schema.ofType("string"))
                        .optional("keep", Schema.flag("Survives the sandbox's deletion"))
                        .with("additionalProperties", false));
    }

    /** The volumes; empty if none were given. */
    static Optional<List<Volume>> volumes(Arguments config) {
        return config.texts("volumes", VolumeRules.MAX_VOLUMES, MAX_CHARS).map(StartVolumes::volumes);
    }

    private static List<Volume> volumes(List<String> texts) {
        var volumes = new ArrayList<Volume>(texts.size());
        for (String text : texts) {
            volumes.add(volume("config.volumes[" + volumes.size() + "]", "volume-" + (volumes.size() + 1), text));
        }
        VolumeRules.problem(volumes).ifPresent(problem -> {
            throw new InvalidArgument("'config.volumes': " + problem);
        });
        return List.copyOf(volumes);
    }

    private static Volume volume(String field, String name, String text) {
        if (HOST_PATH.matcher(text).matches()) {
            throw new InvalidArgument(
                    ("'%s' names a path of a host: '%s'. A sandbox does not see the files of any host."
                                    + " Name a PersistentVolumeClaim of the tenant's namespace, as in 'my-claim:/data', or put"
                                    + " the files into the sandbox with sandbox_write_file")
                            .formatted(field, shown(text)));
        }
        String[] parts = text.split(":", -1);
        if (parts.length < 2 || parts.length > 3) {
            throw new InvalidArgument("'%s' must be 'claim:/path', 'claim:/path:ro' or 'claim:/path:rw', not '%s'"
                    .formatted(field, shown(text)));
        }
        boolean readOnly = readOnly(field, parts);
        VolumeRules.objectProblem(parts[0])
                .or(() -> VolumeRules.pathProblem(parts[1]))
                .ifPresent(problem -> {
                    throw new InvalidArgument("'%s': %s".formatted(field, problem));
                });
        return Volume.ofClaim(name, parts[1], readOnly, parts[0]);
    }

    private static boolean readOnly(String field, String[] parts) {
        return switch (parts.length == 2 ? "ro" : parts[2]) {
            case "ro" -> true;
            case "rw" -> false;
            default ->
                throw new InvalidArgument("'%s' must end with ':ro' or ':rw', or with the path, and not with ':%s'"
                        .formatted(field, shown(parts[2])));
        };
    }

    /** The workspace; empty if none was given. */
    static Optional<Workspace> workspace(Arguments config) {
        if (!config.isObject("workspace")) {
            return config.quantity("workspace", "Mi").map(size -> Workspace.of(size, null, null));
        }
        return config.object("workspace", WORKSPACE_FIELDS).map(StartVolumes::workspaceOf);
    }

    private static Workspace workspaceOf(Arguments given) {
        String size = given.quantity("size", "Mi")
                .orElseThrow(() -> new InvalidArgument(
                        "Missing required 'config.workspace.size' parameter: a quantity such as \"5Gi\""));
        Optional<String> storageClass = given.text("storage_class", VolumeRules.MAX_OBJECT_LENGTH);
        storageClass.flatMap(VolumeRules::objectProblem).ifPresent(problem -> {
            throw new InvalidArgument("'config.workspace.storage_class': " + problem);
        });
        return Workspace.of(size, storageClass.orElse(null), given.has("keep") ? given.flag("keep") : null);
    }

    private static String shown(String text) {
        return text.length() <= 63 ? text : text.substring(0, 63) + "…";
    }
}
