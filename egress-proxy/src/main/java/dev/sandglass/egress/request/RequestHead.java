package dev.sandglass.egress.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The head of a request as a proxy gets it: request line and header fields. Read from the raw bytes and strictly, since
 * what two programs read differently is how walls are passed: lines end with CR LF, nothing is folded, no byte is outside
 * of printable ASCII (the target and values of fields may have higher bytes, values tabs as well).
 *
 * @param method such as {@code CONNECT}
 * @param target as it was written
 * @param minor 0 for HTTP/1.0, 1 for HTTP/1.1
 * @param fields in their order
 */
public record RequestHead(String method, String target, int minor, List<Field> fields) {

    /** Most bytes, the empty line at the end included. */
    public static final int MAX_BYTES = 8 * 1024;

    /** Most header fields. */
    public static final int MAX_FIELDS = 100;

    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    public RequestHead {
        fields = List.copyOf(fields);
    }

    /**
     * Reads a head.
     *
     * @param bytes all of it, up to and with the empty line
     * @throws Refusal saying which rule it breaks
     */
    public static RequestHead parse(byte[] bytes) throws Refusal {
        List<String> lines = lines(bytes);
        String[] words = lines.getFirst().split(" ", -1);
        if (words.length != 3 || !isToken(words[0]) || words[1].isEmpty() || !isTarget(words[1])) {
            throw new Refusal("the request line must be: method, target and version with single spaces between them");
        }
        int minor =
                switch (words[2]) {
                    case "HTTP/1.0" -> 0;
                    case "HTTP/1.1" -> 1;
                    default -> throw new Refusal("the version must be HTTP/1.1 or HTTP/1.0");
                };
        if (lines.size() - 1 > MAX_FIELDS) {
            throw new Refusal("a request may have " + MAX_FIELDS + " header fields, not " + (lines.size() - 1));
        }
        List<Field> fields = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            fields.add(field(line));
        }
        return new RequestHead(words[0], words[1], minor, fields);
    }

    private static List<String> lines(byte[] bytes) throws Refusal {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\r' && i + 1 < bytes.length && bytes[i + 1] == '\n') {
                lines.add(line.toString());
                line.setLength(0);
                i++;
            } else {
                line.append(letter(bytes[i]));
            }
        }
        boolean whole = lines.size() > 1 && line.isEmpty() && lines.getLast().isEmpty();
        if (!whole || lines.indexOf("") != lines.size() - 1) {
            throw new Refusal("a request head must end with its first empty line");
        }
        return lines.subList(0, lines.size() - 1);
    }

    private static char letter(byte raw) throws Refusal {
        int letter = raw & 0xff;
        if ((letter < ' ' && letter != '\t') || letter == 0x7f) {
            throw new Refusal("a request head must not have the control character " + letter
                    + "; its lines end with CR and LF together");
        }
        return (char) letter;
    }

    private static Field field(String line) throws Refusal {
        if (line.startsWith(" ") || line.startsWith("\t")) {
            throw new Refusal("a header field must not go on in the next line");
        }
        int colon = line.indexOf(':');
        if (colon < 1 || !isToken(line.substring(0, colon))) {
            throw new Refusal("a header field must be a name, a colon right behind it and a value");
        }
        return new Field(line.substring(0, colon), trimmed(line.substring(colon + 1)));
    }

    /** Without spaces and tabs around it; Java's own methods would take more than these. */
    private static String trimmed(String text) {
        int begin = 0;
        int end = text.length();
        while (begin < end && isBlank(text.charAt(begin))) {
            begin++;
        }
        while (end > begin && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(begin, end);
    }

    private static boolean isBlank(char letter) {
        return letter == ' ' || letter == '\t';
    }

    static boolean isToken(String text) {
        return !text.isEmpty()
                && text.chars()
                        .allMatch(letter -> letter < 0x80
                                && (Character.isLetterOrDigit(letter) || TOKEN_MARKS.indexOf(letter) >= 0));
    }

    /** Servers take more than a URI may have: a path goes on byte for byte, and a host has a grammar of its own. */
    private static boolean isTarget(String text) {
        return text.chars().allMatch(letter -> letter > ' ' && letter != 0x7f);
    }

    /**
     * The value of a field that may stand but once.
     *
     * @throws Refusal if it stands twice
     */
    public Optional<String> single(String name) throws Refusal {
        List<String> values = fields.stream()
                .filter(field -> field.is(name))
                .map(Field::value)
                .toList();
        if (values.size() > 1) {
            throw new Refusal("the header field " + name + " must not stand twice");
        }
        return values.stream().findFirst();
    }
}
