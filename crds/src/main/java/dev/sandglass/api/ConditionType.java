package dev.sandglass.api;

/**
 * The conditions in a sandbox's status. There is no phase: {@link #READY} says whether the sandbox can be used and, in
 * its reason, why not.
 */
public enum ConditionType {
    READY(
            "Ready",
            "True: the container runs and status.address is set. False: it does not run, and the"
                    + " reason says why. Unknown: the operator could not find out. Absent: the operator has not"
                    + " processed the sandbox yet."),

    NETWORK_READY(
            "NetworkReady",
            "True: the namespace's default-deny policy and the NetworkPolicy with the sandbox's"
                    + " permissions (the namespace's or its own) are in place; the operator creates no pod"
                    + " before that. False: the operator could not apply them. Absent: the sandbox has not"
                    + " needed a pod yet, or the policies are not in place and the operator may not create them"
                    + " now, for the reason in Ready."),

    SUSPENDED(
            "Suspended",
            "True: the operator ended the pod and creates none until the sandbox is used or resumed;"
                    + " the reason says why it ended. False: the sandbox was suspended before and runs again."
                    + " Absent: it was never suspended.");

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
