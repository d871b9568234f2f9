package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServerState;
import dev.sandglass.gateway.toolserver.SharedServerState.State;
import dev.sandglass.gateway.toolserver.SharedServers;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The servers that a sandbox may use, how they stand, and what is known of their tools. Starts none. Never blocks. */
public final class SharedServerList {

    /** No servers at all. */
    public static final SharedServerList NONE = new SharedServerList(SharedServers.NONE, _ -> Optional.empty());

    /** Most servers that one sandbox is told of. */
    public static final int MOST = 64;

    private static final String BEING_REPLACED = "another one takes its place as soon as that runs";
    private static final int MAX_DETAIL = 500;
    private static final int MOST_REMEMBERED = 256;

    private final SharedServers servers;
    private final Function<SandboxRef, Optional<SandboxState>> children;
    private final Recent<Known> tools = new Recent<>(MOST_REMEMBERED);

    /**
     * Knows of no tools yet.
     *
     * @param children finds the sandboxes in which servers run
     */
    public SharedServerList(SharedServers servers, Function<SandboxRef, Optional<SandboxState>> children) {
        this.servers = servers;
        this.children = children;
    }

    private record Known(String revision, SharedServerState.Tools tools) {}

    /** The servers of a sandbox, ordered by name, {@link #MOST} at most; none for a UID that is not known. */
    public List<SharedServerState> of(String sandboxUid) {
        return servers.asker(sandboxUid).map(this::of).orElseGet(List::of);
    }

    List<SharedServerState> of(SharedServers.Asker asker) {
        return servers.usable(asker).stream()
                .limit(MOST)
                .map(server -> state(server, servers.isBeingReplaced(asker, server.name())))
                .toList();
    }

    /** What a server listed. */
    void knows(SharedServer server, SharedServerState.Tools listed) {
        tools.put(server.identity().uid(), new Known(server.identity().revision(), listed));
    }

    private SharedServerState state(SharedServer server, boolean isBeingReplaced) {
        Optional<SharedServerState.Tools> known = tools.get(server.identity().uid())
                .filter(each -> each.revision().equals(server.identity().revision()))
                .map(Known::tools);
        if (server.trouble().isPresent()) {
            return new SharedServerState(
                    server.name(), State.FAILED, line(server.trouble().get()), known, server.ofAgent());
        }
        Optional<SandboxState> child = children.apply(ServerStarts.child(server));
        State state = child.map(SharedServerList::state).orElse(State.STARTING);
        String why = state == State.RUNNING
                ? ""
                : child.flatMap(SandboxState::condition).orElse("");
        String detail = isBeingReplaced ? (why.isEmpty() ? "" : why + "; ") + BEING_REPLACED : why;
        return new SharedServerState(server.name(), state, line(detail), known, server.ofAgent());
    }

    private static State state(SandboxState child) {
        return switch (child) {
            case SandboxState.Running _ -> State.RUNNING;
            // A call waits a moment for the trouble to pass, and fails.
            case SandboxState.Pending pending -> pending.isInTrouble() ? State.FAILED : State.STARTING;
            case SandboxState.Asleep _ -> State.IDLE;
            case SandboxState.Stopped _ -> State.FAILED;
        };
    }

    private static String line(String text) {
        return ForeignText.line(text, MAX_DETAIL);
    }
}
