package dev.sandglass.egress.request;

/**
 * Finds the end of a request's body in its bytes, piece by piece. What follows the end would be another request, which
 * has no verdict yet; so it is not passed on.
 */
public final class BodyEnd {

    private static final int MAX_SIZE_DIGITS = 10;
    private static final int MAX_TRAILER = 8 * 1024;

    private enum Part {
        SIZE,
        SIZE_LF,
        DATA,
        DATA_CR,
        DATA_LF,
        TRAILER,
        TRAILER_LF,
        END
    }

    private Part part;
    private long left;
    private int digits;
    private boolean lineIsEmpty = true;
    private int trailer;

    /** At the begin of a body. */
    public BodyEnd(BodyLength length) {
        switch (length) {
            case BodyLength.Exactly exactly -> {
                left = exactly.bytes();
                part = left == 0 ? Part.END : Part.DATA;
                digits = -1;
            }
            case BodyLength.Chunked _ -> part = Part.SIZE;
        }
    }

    /** Whether the body is whole. */
    boolean isReached() {
        return part == Part.END;
    }

    /**
     * Takes the next bytes.
     *
     * @return how many of them belong to the body
     * @throws Refusal if they are not in chunks as they should be
     */
    public int accept(byte[] bytes) throws Refusal {
        int at = 0;
        while (at < bytes.length && part != Part.END) {
            if (part == Part.DATA) {
                int taken = (int) Math.min(left, bytes.length - at);
                at += taken;
                left -= taken;
                if (left == 0) {
                    part = digits < 0 ? Part.END : Part.DATA_CR;
                }
            } else {
                step(bytes[at++] & 0xff);
            }
        }
        return at;
    }

    private void step(int letter) throws Refusal {
        switch (part) {
            case SIZE -> size(letter);
            case SIZE_LF -> {
                expect(letter, '\n');
                part = left == 0 ? Part.TRAILER : Part.DATA;
                digits = 0;
            }
            case DATA_CR -> {
                expect(letter, '\r');
                part = Part.DATA_LF;
            }
            case DATA_LF -> {
                expect(letter, '\n');
                part = Part.SIZE;
            }
            case TRAILER -> trailer(letter);
            case TRAILER_LF -> {
                expect(letter, '\n');
                part = lineIsEmpty ? Part.END : Part.TRAILER;
                lineIsEmpty = true;
            }
            case DATA, END -> throw new IllegalStateException("Nothing to step over");
        }
    }

    private void size(int letter) throws Refusal {
        int digit = letter < 0x80 ? Character.digit(letter, 16) : -1;
        if (digit >= 0 && digits < MAX_SIZE_DIGITS) {
            left = (digits == 0 ? 0 : left << 4) + digit;
            digits++;
        } else if (letter == '\r' && digits > 0) {
            part = Part.SIZE_LF;
        } else {
            throw new Refusal("a chunk must begin with its length in up to " + MAX_SIZE_DIGITS
                    + " hexadecimal digits, without extensions");
        }
    }

    private void trailer(int letter) throws Refusal {
        if (letter == '\r') {
            part = Part.TRAILER_LF;
        } else if (letter == '\n' || letter == 0 || ++trailer > MAX_TRAILER) {
            throw new Refusal("the fields behind the last chunk must be lines that end with CR LF, at most "
                    + MAX_TRAILER + " bytes");
        } else {
            lineIsEmpty = false;
        }
    }

    private static void expect(int letter, char expected) throws Refusal {
        if (letter != expected) {
            throw new Refusal("the length of a chunk and the chunk must end with CR LF");
        }
    }
}
