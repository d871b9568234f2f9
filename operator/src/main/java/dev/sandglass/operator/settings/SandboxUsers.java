package dev.sandglass.operator.settings;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.Optional;

/**
 * As whom the code of sandboxes runs. The kernel counts processes, watched files and the like per uid, over all pods of a
 * node; so each sandbox has a uid of its own, or a user namespace of its own. See docs/adr/0008-a-uid-for-each-sandbox.md.
 *
 * @param hostUsers false if each pod has a user namespace; then all have the same uid in it
 * @param from the least uid of a sandbox
 * @param count how many uids there are from there on
 */
public record SandboxUsers(boolean hostUsers, long from, long count) {

    /** Group of all sandboxes, and of the files in their volumes: two that mount the same claim both reach what is in it. */
    public static final long GROUP = 65532;

    /** A range that no convention gives to anybody else, up to the greatest uid that Kubernetes takes. */
    public static final SandboxUsers DEFAULT = new SandboxUsers(true, 0x7000_0000L, 0x1000_0000L);

    /** Uid in a namespace of its own, and of sandboxes whose workspace is older than uids of their own. */
    private static final long SHARED = 65532;

    /** What is below belongs to the nodes' own users, and fits into a user namespace. */
    private static final long LEAST = 65536;

    private static final long MOST = Integer.MAX_VALUE;

    public SandboxUsers {
        if (from < LEAST || from > MOST || count < 1 || count > MOST - from + 1) {
            throw new IllegalArgumentException("The uids of sandboxes must lie between %d and %d, not be %d from %d on"
                    .formatted(LEAST, MOST, count, from));
        }
    }

    /**
     * The uid of a pod.
     *
     * @param id see {@link #ofNew}
     * @param workspace the claim that the pod mounts, made for this id or for an earlier one; empty if it mounts none
     */
    public long of(String id, Optional<PersistentVolumeClaim> workspace) {
        return hostUsers ? workspace.map(SandboxUsers::ownerOf).orElseGet(() -> ofNew(id)) : SHARED;
    }

    /**
     * The uid of a pod that finds no files.
     *
     * @param id a Sandbox's UID, and not its name: names can be tried out, until one gives the uid of a neighbour
     */
    public long ofNew(String id) {
        return hostUsers ? from + Long.remainderUnsigned(digest(id), count) : SHARED;
    }

    /** Files keep their owner, wherever the range has moved. A record that cannot be one of ours counts as none. */
    private static long ownerOf(PersistentVolumeClaim claim) {
        return Optional.ofNullable(claim.getMetadata().getAnnotations())
                .map((Map<String, String> annotations) -> annotations.get(SandboxLabels.RUN_AS_USER))
                .filter(text -> text.matches("[1-9][0-9]{0,9}"))
                .map(Long::parseLong)
                .filter(user -> user >= LEAST && user <= MOST)
                .orElse(SHARED);
    }

    private static long digest(String uid) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(("uid of " + uid).getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }
}
