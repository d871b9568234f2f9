package dev.sandglass.api;

/**
 * The conditions in a sandbox's status. There is no phase: {@link #READY} says whether the sandbox can be used and, in
 * its reason, why not.
 */
public enum ConditionType {
    READY(
            "Ready",
            "True: the container runs and status.address is set. False: it does not, and the "
                    + "reason says why. Unknown: the operator could not find out. Absent: the operator "
                    + "has not seen the sandbox yet."),

    NETWORK_READY(
            "NetworkReady",
            "True: the namespace's default-deny is in place, and so is the NetworkPolicy that "
                    + "lets the sandbox do what it needs, the namespace's or its own; no pod is made "
                    + "before. False: they could not be made. Absent: no pod was wanted yet, or they "
                    + "are not in place and none may be made now, for the reason that Ready has."),

    SUSPENDED(
            "Suspended",
            "True: the pod was told to end and none will be made until somebody asks for one; "
                    + "the reason says who or what ended it. False: the sandbox was suspended once and "
                    + "is wanted again. Absent: it was never suspended.");

    /** Most characters of a condition's message, as {@code metav1.Condition} has it; a longer one is refused whole. */
    public static final int MAX_MESSAGE = 32_768;

    private final String value;
    private final String meaning;

    ConditionType(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code type} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** What it means that it is True, False, Unknown or absent; for the reference of the API. */
    public String meaning() {
        return meaning;
    }
}
