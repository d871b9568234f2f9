package dev.sandglass.gateway.link;

/** What happens on a link without being asked for. */
public sealed interface LinkEvent {

    /**
     * The supervisor answered a hello: for the first time, or after a broken connection.
     *
     * @param bootId of the supervisor; another one than before means that it was restarted
     */
    record Opened(String bootId) implements LinkEvent {}

    /**
     * Something happened to a kernel.
     *
     * @param kernel language and session, e.g. {@code python/default}
     * @param event {@code starting}, {@code ready}, {@code died} or {@code oom}
     */
    record Kernel(String kernel, String event) implements LinkEvent {}

    /** The supervisor got through to what its NetworkPolicies must close. */
    record NetworkOpen() implements LinkEvent {}
}
