package dev.sandglass.egress.tls;

import dev.sandglass.api.egress.HostName;
import java.io.ByteArrayOutputStream;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The first message of TLS, which names the server in the open (SNI). It may come in pieces, cut by records and by segments
 * alike. A client that hides the name (ECH) is refused: what is seen would not be what is asked for; so is one that names
 * none.
 */
public final class ClientHello {

    /** Most bytes until the message is whole. */
    public static final int MAX_BYTES = 16 * 1024;

    /** Most records that it may be cut into. */
    public static final int MAX_RECORDS = 16;

    private static final String TOO_LONG = "its first message is longer than " + MAX_BYTES + " bytes";
    private static final int HANDSHAKE = 22;
    private static final int MAJOR = 3;
    private static final int MAX_MINOR = 4;
    private static final int RECORD_HEAD = 5;
    private static final int CLIENT_HELLO = 1;
    private static final int MESSAGE_HEAD = 4;
    private static final int RANDOM = 32;
    private static final int MAX_SESSION_ID = 32;
    private static final int SERVER_NAME = 0;
    private static final int HOST_NAME = 0;
    private static final Set<Integer> HIDING = Set.of(0xfe0d, 0xffce);

    private ClientHello() {}

    /**
     * Looks at the first bytes of a connection, all that have come so far.
     *
     * @return {@link Peek.More} for fewer than {@value #MAX_BYTES} bytes only
     */
    public static Peek peek(byte[] bytes) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        int at = 0;
        for (int records = 0; records < MAX_RECORDS; records++) {
            if (!mayBeTls(bytes, at)) {
                return new Peek.Refused("it is not TLS");
            }
            int begin = at + RECORD_HEAD;
            int end = bytes.length < begin ? begin : begin + recordLength(bytes, at);
            if (end > MAX_BYTES) {
                return new Peek.Refused(TOO_LONG);
            }
            if (bytes.length < begin || bytes.length < end) {
                return new Peek.More(end);
            }
            message.write(bytes, begin, end - begin);
            Optional<Peek> seen = hello(message.toByteArray());
            if (seen.isPresent()) {
                return seen.get();
            }
            at = end;
        }
        return new Peek.Refused("its first message is in more than " + MAX_RECORDS + " records");
    }

    /** Looks at as much of a record's head as is there, so that what is no TLS is told from its first byte. */
    private static boolean mayBeTls(byte[] bytes, int at) {
        return (bytes.length <= at || bytes[at] == HANDSHAKE)
                && (bytes.length <= at + 1 || bytes[at + 1] == MAJOR)
                && (bytes.length <= at + 2 || (bytes[at + 2] >= 0 && bytes[at + 2] <= MAX_MINOR));
    }

    private static int recordLength(byte[] bytes, int at) {
        return ((bytes[at + 3] & 0xff) << 8) | (bytes[at + 4] & 0xff);
    }

    /** The message if it is whole. */
    private static Optional<Peek> hello(byte[] message) {
        if (message.length == 0) {
            return Optional.of(new Peek.Refused("it has an empty record"));
        }
        if (message[0] != CLIENT_HELLO) {
            return Optional.of(new Peek.Refused("its first message is not a ClientHello"));
        }
        if (message.length < MESSAGE_HEAD) {
            return Optional.empty();
        }
        int length = ((message[1] & 0xff) << 16) | ((message[2] & 0xff) << 8) | (message[3] & 0xff);
        if (length > MAX_BYTES) {
            return Optional.of(new Peek.Refused(TOO_LONG));
        }
        if (message.length < MESSAGE_HEAD + length) {
            return Optional.empty();
        }
        if (message.length > MESSAGE_HEAD + length) {
            return Optional.of(new Peek.Refused("something follows its ClientHello in the same record"));
        }
        try {
            return Optional.of(body(new Bytes(message, MESSAGE_HEAD, message.length)));
        } catch (Bytes.Ended e) {
            return Optional.of(new Peek.Refused("its ClientHello is malformed"));
        }
    }

    private static Peek body(Bytes body) throws Bytes.Ended {
        body.skip(2 + RANDOM);
        Bytes session = body.counted(1);
        Bytes ciphers = body.counted(2);
        Bytes compressions = body.counted(1);
        boolean sound = session.left() <= MAX_SESSION_ID
                && ciphers.left() > 0
                && ciphers.left() % 2 == 0
                && compressions.left() > 0;
        if (!sound) {
            return new Peek.Refused("its ClientHello is malformed");
        }
        if (body.left() == 0) {
            return new Peek.Refused("its ClientHello names no server (SNI)");
        }
        Bytes extensions = body.counted(2);
        return body.left() == 0 ? extensions(extensions) : new Peek.Refused("its ClientHello is malformed");
    }

    private static Peek extensions(Bytes extensions) throws Bytes.Ended {
        Set<Integer> seen = new HashSet<>();
        Peek named = new Peek.Refused("its ClientHello names no server (SNI)");
        while (extensions.left() > 0) {
            int type = extensions.number(2);
            Bytes content = extensions.counted(2);
            if (!seen.add(type)) {
                return new Peek.Refused("its ClientHello has an extension twice");
            }
            if (HIDING.contains(type)) {
                return new Peek.Refused("it hides the server's name (ECH)");
            }
            if (type == SERVER_NAME) {
                named = serverName(content);
            }
        }
        return named;
    }

    private static Peek serverName(Bytes content) throws Bytes.Ended {
        Bytes names = content.counted(2);
        if (content.left() > 0 || names.number(1) != HOST_NAME) {
            return new Peek.Refused("its server name (SNI) is malformed");
        }
        Bytes name = names.counted(2);
        if (names.left() > 0) {
            return new Peek.Refused("its ClientHello names more than one server (SNI)");
        }
        try {
            return new Peek.Named(HostName.parse(name.text()));
        } catch (IllegalArgumentException e) {
            return new Peek.Refused("its server name (SNI) is not a host name");
        }
    }
}
