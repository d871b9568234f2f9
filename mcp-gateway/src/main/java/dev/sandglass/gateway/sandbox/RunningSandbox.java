package dev.sandglass.gateway.sandbox;

/**
 * A sandbox whose pod is Ready and has an address: all that is needed to open a link to it.
 *
 * @param ref which sandbox this is
 * @param uid UID of the resource; part of the link's keys
 * @param incarnation number of the pod; part of the link's keys
 * @param address IP address from the resource's status, never from a request
 * @param port TCP port of the supervisor's link
 */
public record RunningSandbox(SandboxRef ref, String uid, int incarnation, String address, int port) {}
