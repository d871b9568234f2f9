package dev.sandglass.gateway.output;

/**
 * Finds the control sequences of ECMA-48 in a text, code point by code point, however the text was cut into pieces. Those
 * that rewrite a line have an effect, all others none. Pure; one thread at a time.
 */
final class TerminalCodes {

    /** What a code point does. */
    sealed interface Effect {
        /** It is text. */
        record Print() implements Effect {}

        /** It is part of a control sequence. */
        record Nothing() implements Effect {}

        /** Erases from the cursor to the end of the line. */
        record EraseRight() implements Effect {}

        /** Erases the line; the cursor stays. */
        record EraseLine() implements Effect {}

        /** Moves the cursor; the first column is 0. */
        record Column(int wanted) implements Effect {}
    }

    private static final Effect PRINT = new Effect.Print();
    private static final Effect NOTHING = new Effect.Nothing();
    private static final int MAX_PARAMETERS = 32;
    private static final int MAX_DIGITS = 4;

    private enum State {
        TEXT,
        ESCAPE,
        INTERMEDIATE,
        SEQUENCE,
        STRING,
        STRING_ESCAPE
    }

    private final StringBuilder parameters = new StringBuilder();
    private State state = State.TEXT;

    /** Whether a character is the first of a control sequence, or is never shown. */
    static boolean begins(int character) {
        return character == 0x1b || character == 0x9b || character == 0x07;
    }

    /** Whether a sequence has begun and not ended. */
    boolean isOpen() {
        return state != State.TEXT;
    }

    /** Takes the next code point. */
    Effect take(int codePoint) {
        // No sequence holds a line break or a carriage return: one that was cut off must not swallow what follows.
        if (codePoint == '\n' || codePoint == '\r') {
            state = State.TEXT;
        }
        return switch (state) {
            case TEXT -> begin(codePoint);
            case ESCAPE -> escape(codePoint);
            case INTERMEDIATE -> isIntermediate(codePoint) ? NOTHING : endWith(NOTHING);
            case SEQUENCE -> sequence(codePoint);
            case STRING -> string(codePoint);
            case STRING_ESCAPE -> endWith(NOTHING);
        };
    }

    private Effect begin(int codePoint) {
        if (codePoint == 0x1b) {
            state = State.ESCAPE;
        } else if (codePoint == 0x9b) {
            beginSequence();
        }
        return begins(codePoint) ? NOTHING : PRINT;
    }

    private Effect escape(int codePoint) {
        switch (codePoint) {
            case '[' -> beginSequence();
            case ']', 'P', 'X', '^', '_' -> state = State.STRING;
            default -> state = isIntermediate(codePoint) ? State.INTERMEDIATE : State.TEXT;
        }
        return NOTHING;
    }

    private void beginSequence() {
        parameters.setLength(0);
        state = State.SEQUENCE;
    }

    private Effect sequence(int codePoint) {
        if (codePoint >= 0x20 && codePoint <= 0x3f) {
            if (parameters.length() < MAX_PARAMETERS) {
                parameters.append((char) codePoint);
            }
            return NOTHING;
        }
        return switch (codePoint) {
            case 'K' -> endWith(erased());
            case 'G' -> endWith(new Effect.Column(Math.max(0, number() - 1)));
            default -> endWith(NOTHING);
        };
    }

    private Effect string(int codePoint) {
        if (codePoint == 0x1b) {
            state = State.STRING_ESCAPE;
            return NOTHING;
        }
        return codePoint == 0x07 ? endWith(NOTHING) : NOTHING;
    }

    private Effect erased() {
        return switch (parameters.toString()) {
            case "", "0" -> new Effect.EraseRight();
            case "2" -> new Effect.EraseLine();
            default -> NOTHING;
        };
    }

    /** The one number of a sequence; 1 if there is none or no sensible one. */
    private int number() {
        boolean sensible = !parameters.isEmpty()
                && parameters.length() <= MAX_DIGITS
                && parameters.chars().allMatch(c -> c >= '0' && c <= '9');
        return sensible ? Integer.parseInt(parameters.toString()) : 1;
    }

    private Effect endWith(Effect effect) {
        state = State.TEXT;
        return effect;
    }

    private static boolean isIntermediate(int codePoint) {
        return codePoint >= 0x20 && codePoint <= 0x2f;
    }
}
