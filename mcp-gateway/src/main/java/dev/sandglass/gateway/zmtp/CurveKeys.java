package dev.sandglass.gateway.zmtp;

/**
 * The long-term keys of a connection, 32 bytes each.
 *
 * @param ourPublic the client's, by which the far side admits it
 * @param ourSecret the client's
 * @param theirPublic the server's: only the side with the secret half can answer
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record CurveKeys(byte[] ourPublic, byte[] ourSecret, byte[] theirPublic) {

    /** Length of each in bytes. */
    public static final int LENGTH = 32;

    /** Refuses keys of another length. */
    public CurveKeys {
        if (ourPublic.length != LENGTH || ourSecret.length != LENGTH || theirPublic.length != LENGTH) {
            throw new IllegalArgumentException("A key of CURVE has " + LENGTH + " bytes");
        }
    }

    /** Shows no key. */
    @Override
    public String toString() {
        return "CurveKeys[]";
    }
}
