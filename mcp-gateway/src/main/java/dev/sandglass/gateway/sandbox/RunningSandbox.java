package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.SandboxPort;
import java.util.List;
import java.util.Optional;

/**
 * A sandbox whose pod is Ready and has an address: all that is needed to open a link to it.
 *
 * @param ref which sandbox this is
 * @param uid UID of the resource; part of the link's keys, unless there is a seat
 * @param incarnation number of the pod; part of the link's keys, unless there is a seat
 * @param address IP address from the resource's status, never from a request
 * @param port TCP port of the supervisor's link
 * @param declared ports on which its code serves HTTP for others
 * @param reach what its code may reach
 * @param restarts how often the pod's container was started again, and why the last time
 * @param awaited what the operator says of edits that hold from the next start on; empty if all that is wanted is in force
 * @param seat which seat the pod was before the sandbox claimed it; empty if the pod was made for the sandbox
 */
public record RunningSandbox(
        SandboxRef ref,
        String uid,
        int incarnation,
        String address,
        int port,
        List<SandboxPort> declared,
        Reach reach,
        Restarts restarts,
        Optional<String> awaited,
        Optional<SeatId> seat) {

    /** Copies the list. */
    public RunningSandbox {
        declared = List.copyOf(declared);
    }

    /** One whose pod was made for it. */
    public RunningSandbox(
            SandboxRef ref,
            String uid,
            int incarnation,
            String address,
            int port,
            List<SandboxPort> declared,
            Reach reach,
            Restarts restarts,
            Optional<String> awaited) {
        this(ref, uid, incarnation, address, port, declared, reach, restarts, awaited, Optional.empty());
    }

    /** One that is as it is wanted, without network. */
    public RunningSandbox(
            SandboxRef ref, String uid, int incarnation, String address, int port, List<SandboxPort> declared) {
        this(ref, uid, incarnation, address, port, declared, Reach.NOTHING, Restarts.NONE, Optional.empty());
    }

    /** One without declared ports. */
    public RunningSandbox(SandboxRef ref, String uid, int incarnation, String address, int port) {
        this(ref, uid, incarnation, address, port, List.of());
    }

    /** Whether the gateway may make that port reachable. */
    public boolean declares(int number) {
        return declared.stream().anyMatch(each -> each.port() == number);
    }
}
