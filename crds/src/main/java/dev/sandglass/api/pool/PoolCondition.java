package dev.sandglass.api.pool;

/** The conditions in a pool's status. */
public enum PoolCondition {
    AVAILABLE(
            "Available",
            "True: at least one seat is ready, or none is wanted. False: sandboxes start cold, and the reason says why."),

    PROGRESSING(
            "Progressing",
            "True: the seats are as the spec has it, or become so. False: seats cannot start; the reason and the message"
                    + " say why, in the words of a Sandbox's Ready.");

    private final String value;
    private final String meaning;

    PoolCondition(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code type} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** What it means that it is True or False; for the reference of the API. */
    public String meaning() {
        return meaning;
    }
}
