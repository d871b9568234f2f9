package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.execution.Session;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Any text is a session's name here (contracts.md P2), and a sandbox takes 63 letters, digits, hyphens and underscores alone.
 * A name that it takes stays what it is. A short other one is written in base64 behind {@link #MARK}, and a long one becomes
 * its begin and a digest; the sandbox keeps the text of that as the session's label. Names that begin with the mark are
 * written so too, so that no two texts become one name.
 */
final class SessionNames {

    /** Most bytes, in UTF-8, of a text that is written whole. */
    static final int WHOLE_BYTES = 45;

    /** Most characters of a name. */
    static final int MAX_CHARS = Session.LABEL_CHARS;

    private static final String MARK = "u-";
    private static final String PYTHON = "python";
    private static final Pattern PLAIN = Pattern.compile("(?!" + MARK + ")[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
    private static final String SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    private static final char FILLING = '-';
    // With mark, filling and the 43 characters of a digest it has 63; what is written whole has 62 at most.
    private static final int BEGIN = 17;

    private SessionNames() {}

    static Schema schema() {
        return Schema.text("Name of the session: any text of your choice");
    }

    /** The text in the field {@code session}, which must be there. */
    static String read(Arguments arguments) {
        String text = arguments.requiredText("session", MAX_CHARS);
        if (text.isEmpty()) {
            throw new InvalidArgument(
                    "'session' must not be empty: any other text of up to %d characters is a session's name"
                            .formatted(MAX_CHARS));
        }
        return text;
    }

    /** What a sandbox calls a session. */
    static Session.Name of(String text) {
        if (PLAIN.matcher(text).matches()) {
            return new Session.Name(PYTHON, text);
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Session.Name(PYTHON, MARK + (bytes.length <= WHOLE_BYTES ? base64(bytes) : digested(text, bytes)));
    }

    private static String digested(String text, byte[] bytes) {
        var begin = new StringBuilder();
        for (int at = 0; at < BEGIN; at++) {
            char next = at < text.length() ? text.charAt(at) : FILLING;
            begin.append(SAFE.indexOf(next) < 0 ? FILLING : next);
        }
        try {
            return begin.append(FILLING)
                    .append(base64(MessageDigest.getInstance("SHA-256").digest(bytes)))
                    .toString();
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** What the sandbox is to keep beside the name of that text; null if the name tells the text. */
    static @Nullable String label(String text) {
        return text(of(text), null).equals(text) ? null : text;
    }

    /** What a caller of this endpoint calls a session; one that was made elsewhere keeps its name. */
    static String text(Session session) {
        return text(session.name(), session.label());
    }

    /** A label counts if its text becomes that name, so that no session goes by the name of another. */
    private static String text(Session.Name name, @Nullable String label) {
        if (!name.session().startsWith(MARK)) {
            return name.session();
        }
        if (label != null && of(label).equals(name)) {
            return label;
        }
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(name.session().substring(MARK.length()));
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return of(text).equals(name) ? text : name.session();
        } catch (IllegalArgumentException | CharacterCodingException notOurs) {
            return name.session();
        }
    }

    /** Whether it is one of this endpoint's. */
    static boolean isPython(Session session) {
        return session.name().language().equals(PYTHON);
    }
}
