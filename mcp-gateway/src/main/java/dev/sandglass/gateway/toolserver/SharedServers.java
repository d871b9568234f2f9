package dev.sandglass.gateway.toolserver;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which MCP servers there are for sandboxes to share, and which sandbox may use which. Reads a cache; never blocks. */
public interface SharedServers {

    /** None, as in a cluster that does not know the kind. */
    SharedServers NONE = new SharedServers() {
        @Override
        public Optional<Asker> asker(String sandboxUid) {
            return Optional.empty();
        }

        @Override
        public Optional<SharedServer> find(Asker asker, String name) {
            return Optional.empty();
        }

        @Override
        public List<SharedServer> usable(Asker asker) {
            return List.of();
        }
    };

    /**
     * A sandbox whose code may call servers.
     *
     * @param uid of the sandbox
     * @param namespace in which it is
     * @param name of its resource
     * @param labels of its resource
     */
    record Asker(String uid, String namespace, String name, Map<String, String> labels) {
        /** Keeps its own copy. */
        public Asker {
            labels = Map.copyOf(labels);
        }
    }

    /** The sandbox of that UID; empty if there is none, or a server runs in it. */
    Optional<Asker> asker(String sandboxUid);

    /** The server that code in that sandbox knows by that name; empty if there is none that it may use. */
    Optional<SharedServer> find(Asker asker, String name);

    /** All servers that code in that sandbox may use, ordered by name. */
    List<SharedServer> usable(Asker asker);

    /** What is known now of the server that this resource describes; empty if it is gone, or not known yet. */
    default Optional<SharedServer> current(SharedServer.Identity identity) {
        return Optional.empty();
    }

    /** Whether the server of that name is registered anew just now: another one takes its place when that runs. */
    default boolean isBeingReplaced(Asker asker, String name) {
        return false;
    }

    /** How many servers agents registered in a namespace, as far as is known. */
    default int ofAgents(String namespace) {
        return 0;
    }
}
