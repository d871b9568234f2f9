package dev.sandglass.gateway.adoption;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Set;

/**
 * The replicas that serve, as one of them knows them, and which of them has which sandbox. They agree without a word: the
 * highest of their weights for a sandbox has it (rendezvous hashing), so that a replica that goes leaves its own sandboxes
 * to the others, evenly, and no others change hands. Pure.
 *
 * @param self name of this replica, which always counts as one that serves
 * @param others names of the others
 */
record Peers(String self, Set<String> others) {

    /** Keeps its own copy. */
    Peers {
        others = Set.copyOf(others);
    }

    /** Whether a sandbox is this replica's. */
    boolean isOfSelf(String sandboxUid) {
        long own = weight(self, sandboxUid);
        return others.stream().noneMatch(other -> isHeavier(other, sandboxUid, own));
    }

    private boolean isHeavier(String other, String sandboxUid, long own) {
        int order = Long.compareUnsigned(weight(other, sandboxUid), own);
        return order > 0 || (order == 0 && other.compareTo(self) > 0);
    }

    /** Whether one of those of before is gone. */
    boolean lackAnyOf(Peers before) {
        return !others.containsAll(before.others);
    }

    private static long weight(String replica, String sandboxUid) {
        // No name has a line's end.
        byte[] both = (replica + "\n" + sandboxUid).getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.wrap(sha256().digest(both)).getLong();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
