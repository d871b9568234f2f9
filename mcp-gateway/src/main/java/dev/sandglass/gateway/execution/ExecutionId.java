package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.security.SecureRandom;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names one execution for ever: {@code <tenant>.<sandbox uid>.<incarnation>.<number>}, at most {@value #MAX_LENGTH}
 * ASCII characters. It says where the execution lives, so that any replica can read it, and which tenant's rights are to be
 * checked. It is no secret and gives no right.
 *
 * @param tenant 1 to 63 letters, digits, hyphens and underscores, the first a letter or digit
 * @param sandboxUid UID of the resource: 1 to 36 lower-case letters, digits and hyphens
 * @param incarnation number of the pod, from 1
 * @param number {@value #NUMBER_LENGTH} characters of lower-case base32 (RFC 4648), random: 80 bits
 */
public record ExecutionId(String tenant, String sandboxUid, int incarnation, String number) {

    /** Longest form there is. */
    public static final int MAX_LENGTH = 63 + 1 + 36 + 1 + 10 + 1 + 16;

    private static final int NUMBER_LENGTH = 16;
    private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
    private static final Pattern TENANT = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,62}");
    private static final Pattern UID = Pattern.compile("[a-z0-9-]{1,36}");
    private static final Pattern NUMBER = Pattern.compile("[a-z2-7]{16}");
    private static final Pattern WHOLE =
            Pattern.compile("([^.]{1,63})\\.([^.]{1,36})\\.([1-9][0-9]{0,9})\\.([^.]{16})");
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Refuses parts outside the grammar, with {@link IllegalArgumentException}. */
    public ExecutionId {
        require(TENANT, tenant, "tenant");
        require(UID, sandboxUid, "sandbox uid");
        require(NUMBER, number, "number");
        if (incarnation < 1) {
            throw new IllegalArgumentException("incarnations count from 1: " + incarnation);
        }
    }

    /** A new one that no other execution has. */
    public static ExecutionId random(String tenant, String sandboxUid, int incarnation) {
        byte[] bytes = new byte[NUMBER_LENGTH];
        RANDOM.nextBytes(bytes);
        char[] number = new char[NUMBER_LENGTH];
        for (int i = 0; i < NUMBER_LENGTH; i++) {
            number[i] = ALPHABET.charAt(bytes[i] & 31);
        }
        return new ExecutionId(tenant, sandboxUid, incarnation, new String(number));
    }

    /** The id that {@link #toString} wrote, or nothing if the text is not one. Safe on text from anywhere. */
    public static Optional<ExecutionId> parse(String text) {
        if (text.length() > MAX_LENGTH) {
            return Optional.empty();
        }
        Matcher parts = WHOLE.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new ExecutionId(parts.group(1), parts.group(2), Integer.parseInt(parts.group(3)), parts.group(4)));
        } catch (IllegalArgumentException outsideTheGrammar) {
            return Optional.empty();
        }
    }

    /** The id of an execution that its supervisor calls by that number, or nothing if that is none. */
    static Optional<ExecutionId> of(RunningSandbox sandbox, String number) {
        return parse("%s.%s.%d.%s".formatted(sandbox.ref().tenant(), sandbox.uid(), sandbox.incarnation(), number));
    }

    /** Whether it ran, or runs, in what that sandbox is now: not in another one, and not before a restart. */
    public boolean isOf(RunningSandbox sandbox) {
        return sandboxUid.equals(sandbox.uid()) && incarnation == sandbox.incarnation();
    }

    /** The form that callers are given. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s.%s.%d.%s", tenant, sandboxUid, incarnation, number);
    }

    private static void require(Pattern grammar, String value, String part) {
        if (!grammar.matcher(value).matches()) {
            throw new IllegalArgumentException("not a " + part + " of an execution id");
        }
    }
}
