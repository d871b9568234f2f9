package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tells whether a pod was shaped by an earlier spec, without keeping that spec. */
public final class SpecHash {

    private static final int BYTES = 8;

    private SpecHash() {}

    /** Whether the fields that shape a pod differ from those that this pod was made of. */
    public static boolean outdated(Pod pod, Sandbox sandbox) {
        String recorded = pod.getMetadata().getAnnotations().get(SandboxLabels.POD_SPEC_HASH);
        return !Objects.equals(recorded, of(sandbox.wanted()));
    }

    /**
     * Digest of the fields as they are given: a new default image of the installation is no edit of the sandbox.
     * Quantities count by their amount, so that 1Gi and 1024Mi are the same. The time-outs are not among them, since they
     * apply without a new pod. What a sandbox has not does not count, so that pods of an earlier version keep their digest.
     */
    static String of(SandboxSpec spec) {
        String text = String.join(
                        "\n",
                        Objects.requireNonNullElse(spec.image(), ""),
                        amount(spec.memory()),
                        amount(spec.cpus()),
                        amount(spec.disk()),
                        Serialization.asJson(spec.environment()))
                + volumes(spec)
                + ifGiven("runtimeClassName", spec.runtimeClassName());
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** A field that came later: absent it leaves no trace, or every pod of the version before would count as outdated. */
    private static String ifGiven(String field, @Nullable String value) {
        return value == null ? "" : "\n" + field + "=" + value;
    }

    /** Size and keeping of a workspace are not among it: they apply to the claim, at once. */
    private static String volumes(SandboxSpec spec) {
        String volumes = spec.volumes().isEmpty() ? "" : "\nvolumes " + Serialization.asJson(spec.volumes());
        return spec.workspace() == null
                ? volumes
                : volumes + "\nworkspace "
                        + Objects.requireNonNullElse(spec.workspace().storageClassName(), "");
    }

    private static String amount(Quantity quantity) {
        return quantity.getNumericalAmount().stripTrailingZeros().toPlainString();
    }
}
