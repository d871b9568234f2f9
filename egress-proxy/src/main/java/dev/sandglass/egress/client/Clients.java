package dev.sandglass.egress.client;

import dev.sandglass.api.egress.IpAddress;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Which sandbox is at which address, as it is known at this moment. Asked by many threads; answers at once. */
public interface Clients {

    /** Whether everything was read at least once. Before, no client is known for sure, and the proxy admits none. */
    boolean isSynced();

    /** The sandbox whose running pod has that address; empty if there is none, or none for sure. */
    Optional<Client> at(IpAddress source);

    /**
     * Whether a pod of a pool has that address, and the sandbox that claimed it is not known yet, or the claim itself. It is
     * refused everything, and may be admitted a moment later.
     */
    boolean awaitsClaim(IpAddress source);

    /**
     * Asks anew whether that sandbox is still the one at that address, for those who show no credential: what is known
     * here may be some milliseconds old, and the address another's by now.
     *
     * @return false too if it cannot be found out
     */
    CompletionStage<Boolean> confirm(IpAddress source, String uid);

    /** Whether that sandbox exists, with a pod or without. */
    boolean knows(String uid);

    /**
     * Calls a listener whenever a sandbox or its pod changed or went.
     *
     * @param listener given the UID of the sandbox; called by any thread
     */
    void onChange(Consumer<String> listener);
}
