package dev.sandglass.egress.client;

/** Checks what a sandbox presents beside its address. */
@FunctionalInterface
public interface Credentials {

    /** Whether user and password are those of the sandbox's pod, which is {@link Client#subject}. */
    boolean belongTo(Client client, String user, String password);
}
