package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Entries of Secrets that a pod has as files, one folder a Secret: {@code /etc/sandglass/mcp/SECRET/KEY}. No spec of a
 * Sandbox names them, see ADR 0025. Above the folders is only the image's root file system, which no code writes.
 *
 * @param keys those of each Secret, by its name
 */
public record SecretFiles(SortedMap<String, SortedSet<String>> keys) {

    /** No entry. */
    public static final SecretFiles NONE = new SecretFiles(new TreeMap<>());

    private static final String FOLDER = "/etc/sandglass/mcp/";

    /** Longest name of a volume. */
    private static final int MAX_VOLUME = 63;

    private static final int HASH_BYTES = 8;

    /** Keeps its own copy. */
    public SecretFiles {
        SortedMap<String, SortedSet<String>> copy = new TreeMap<>();
        keys.forEach((secret, entries) -> copy.put(secret, Collections.unmodifiableSortedSet(new TreeSet<>(entries))));
        keys = Collections.unmodifiableSortedMap(copy);
    }

    /** The same pod with the files, and with the annotation that says which they are. */
    public Pod mountedIn(Pod pod) {
        return keys.isEmpty()
                ? pod
                : new PodBuilder(pod)
                        .editMetadata()
                        .addToAnnotations(SandboxLabels.SECRETS_HASH, hash())
                        .endMetadata()
                        .editSpec()
                        .addAllToVolumes(volumes())
                        .editFirstContainer()
                        .addAllToVolumeMounts(mounts())
                        .endContainer()
                        .endSpec()
                        .build();
    }

    /** Whether a pod was made with these entries and no others; a pod cannot get another volume. */
    public boolean areIn(Pod pod) {
        return Objects.equals(
                pod.getMetadata().getAnnotations().get(SandboxLabels.SECRETS_HASH), keys.isEmpty() ? null : hash());
    }

    private List<Volume> volumes() {
        return keys.entrySet().stream()
                .map(secret -> new VolumeBuilder()
                        .withName(volume(secret.getKey()))
                        .withNewSecret()
                        .withSecretName(secret.getKey())
                        .withItems(secret.getValue().stream()
                                .map(key -> new KeyToPath(key, null, key))
                                .toList())
                        .withOptional(false)
                        .endSecret()
                        .build())
                .toList();
    }

    private List<VolumeMount> mounts() {
        return keys.keySet().stream()
                .map(secret -> new VolumeMountBuilder()
                        .withName(volume(secret))
                        .withMountPath(FOLDER + secret)
                        .withReadOnly(true)
                        .build())
                .toList();
    }

    /** That of the Secret wherever it can be, since the kubelet names the volume when an entry is missing. */
    private String volume(String secret) {
        return secret.length() <= MAX_VOLUME && secret.indexOf('.') < 0
                ? secret
                : "mcp-" + keys.headMap(secret).size();
    }

    /** No digest of values: the operator does not know them. */
    private String hash() {
        StringBuilder text = new StringBuilder();
        keys.forEach((secret, entries) -> entries.forEach(
                key -> text.append(secret).append('/').append(key).append('\n')));
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
