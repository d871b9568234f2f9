package dev.sandglass.api.pool;

/**
 * The reasons of a pool's conditions that a Sandbox does not have. What keeps seats from starting is told by the reason that
 * a Sandbox with the same spec would have ({@link dev.sandglass.api.Reason}).
 */
public enum PoolReason {
    SEATS_READY("SeatsReady", "Available=True: a seat can be claimed."),

    NO_SEATS_WANTED("NoSeatsWanted", "Available=True: spec.replicas is 0."),

    SEATS_STARTING(
            "SeatsStarting",
            "Progressing=True: seats are starting, or the operator replaces those that do not have the present"
                    + " template. Available=False: none can be claimed yet."),

    COMPLETE("Complete", "Progressing=True: as many seats as the spec wants are ready, with the present template."),

    DEADLINE_EXCEEDED(
            "DeadlineExceeded",
            "Progressing=False: a seat did not start within 60 seconds, and no cause is known. The operator replaces it"
                    + " after 10 minutes, and makes no further one unless another seat is ready.");

    private final String value;
    private final String meaning;

    PoolReason(String value, String meaning) {
        this.value = value;
        this.meaning = meaning;
    }

    /** The {@code reason} as it stands in the resource. */
    public String value() {
        return value;
    }

    /** On which condition it stands and what it means; for the reference of the API. */
    public String meaning() {
        return meaning;
    }
}
