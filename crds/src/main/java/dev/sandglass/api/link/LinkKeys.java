package dev.sandglass.api.link;

import java.nio.charset.StandardCharsets;

/**
 * The two CURVE keys of the link between the gateway and one incarnation of a sandbox. Both sides derive them from the
 * installation's secret: the operator writes the pod's half into a Secret that it cannot read back, the gateway needs
 * no right on Secrets at all.
 *
 * @param pod the supervisor's key
 * @param gateway the key with which every replica of the gateway introduces itself to this incarnation
 */
public record LinkKeys(CurveKey pod, CurveKey gateway) {

    private static final byte[] SALT = "sandglass-link-v1".getBytes(StandardCharsets.US_ASCII);

    /**
     * Derives the keys; the same arguments always give the same keys, and an incarnation's keys tell nothing about
     * another's.
     *
     * @param sandboxUid UID of the {@code Sandbox} resource, or the id of a seat
     * @param incarnation number of the pod, from 1; 0 for a seat, which keeps its keys when a sandbox claims it
     */
    public static LinkKeys derive(LinkSecret secret, String sandboxUid, int incarnation) {
        if (sandboxUid.isEmpty() || sandboxUid.indexOf('|') >= 0) {
            throw new IllegalArgumentException("Not a UID: '" + sandboxUid + "'");
        }
        if (incarnation < 0) {
            throw new IllegalArgumentException("Incarnations count from 1, and a seat has 0, not " + incarnation);
        }
        return new LinkKeys(
                key(secret, "pod", sandboxUid, incarnation), key(secret, "gateway", sandboxUid, incarnation));
    }

    private static CurveKey key(LinkSecret secret, String purpose, String sandboxUid, int incarnation) {
        byte[] info = (purpose + '|' + sandboxUid + '|' + incarnation).getBytes(StandardCharsets.US_ASCII);
        return new CurveKey(Hkdf.derive(secret.bytes(), SALT, info, CurveKey.LENGTH));
    }
}
