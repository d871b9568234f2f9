package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.execution.Session;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * Any text is a session's name here (contracts.md P2), and a sandbox takes letters, digits, hyphens and underscores alone. A
 * name that it takes stays what it is; another is written in base64 behind {@link #MARK}. Names that begin with the mark are
 * written so too, so that no two texts become one name and each is read back.
 */
final class SessionNames {

    /** Most bytes, in UTF-8, of a name that is no plain one. */
    static final int MOST_BYTES = 45;

    private static final String MARK = "u-";
    private static final String PYTHON = "python";
    private static final Pattern PLAIN = Pattern.compile("(?!" + MARK + ")[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
    private static final int MAX_CHARS = 1000;

    private SessionNames() {}

    static Schema schema() {
        return Schema.text("Name of the session: any text of your choice");
    }

    /** The text in the field {@code session}, which must be there. */
    static String read(Arguments arguments) {
        String text = arguments.requiredText("session", MAX_CHARS);
        of(text);
        return text;
    }

    /** What a sandbox calls a session. */
    static Session.Name of(String text) {
        if (PLAIN.matcher(text).matches()) {
            return new Session.Name(PYTHON, text);
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MOST_BYTES) {
            throw new InvalidArgument(
                    ("'session' must have at most 63 characters if they are letters, digits, '-' and '_',"
                                    + " and else at most %d bytes in UTF-8; it has %d: give a shorter name")
                            .formatted(MOST_BYTES, bytes.length));
        }
        return new Session.Name(
                PYTHON, MARK + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
    }

    /** The text that became that name; a name that none becomes, of a session made elsewhere, stays as it is. */
    static String text(Session.Name name) {
        if (!name.session().startsWith(MARK)) {
            return name.session();
        }
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(name.session().substring(MARK.length()));
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (IllegalArgumentException | CharacterCodingException notOurs) {
            return name.session();
        }
    }

    /** Whether it is one of this endpoint's. */
    static boolean isPython(Session session) {
        return session.name().language().equals(PYTHON);
    }
}
