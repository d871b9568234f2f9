package dev.sandglass.egress.request;

/**
 * A header field.
 *
 * @param name as it was written
 * @param value without white space around it
 */
public record Field(String name, String value) {

    /** Whether it has that name, in whatever case. */
    public boolean is(String other) {
        return name.equalsIgnoreCase(other);
    }
}
