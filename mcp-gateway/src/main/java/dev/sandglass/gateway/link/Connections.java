package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.LinkException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The connections in use, by target. Owner thread only, but for {@link #isOpen} and {@link #openCount}. */
final class Connections {

    // The supervisor knows one reading per connection and execution: a second reader of the same one, through the same
    // replica, gets a connection of its own.
    private static final int MAX_LANES = 4;

    private final Map<Lane, Connection> connections = new ConcurrentHashMap<>();
    private final Function<LinkTarget, Connection> make;

    Connections(Function<LinkTarget, Connection> make) {
        this.make = make;
    }

    boolean isOpen(LinkTarget target) {
        Connection connection = connections.get(new Lane(target, 0));
        return connection != null && connection.isOpen();
    }

    long openCount() {
        return connections.values().stream().filter(Connection::isOpen).count();
    }

    /** The first connection to a target, made if need be. */
    Connection to(LinkTarget target) {
        return lane(target, 0);
    }

    /** A connection on which an execution is not read yet, or null if there are too many readers. */
    @Nullable
    Connection toFollow(LinkTarget target, String executionId) {
        for (int index = 0; index < MAX_LANES; index++) {
            Connection connection = lane(target, index);
            if (!connection.follows(executionId)) {
                return connection;
            }
        }
        return null;
    }

    /** All connections to a target. */
    List<Connection> all(LinkTarget target) {
        List<Connection> found = new ArrayList<>(1);
        for (int index = 0; index < MAX_LANES; index++) {
            Connection connection = connections.get(new Lane(target, index));
            if (connection != null) {
                found.add(connection);
            }
        }
        return found;
    }

    /** Closes those to a target on which nothing is under way. */
    void closeUnused(LinkTarget target) {
        for (int index = 0; index < MAX_LANES; index++) {
            connections.computeIfPresent(
                    new Lane(target, index),
                    (_, connection) -> connection.closeIfIdle(Duration.ZERO) ? null : connection);
        }
    }

    void closeIdle(Duration idleAfter) {
        connections.values().removeIf(connection -> connection.closeIfIdle(idleAfter));
    }

    void shutDown(LinkException why) {
        List.copyOf(connections.values()).forEach(connection -> connection.shutDown(why));
        connections.clear();
    }

    private Connection lane(LinkTarget target, int index) {
        return connections.computeIfAbsent(new Lane(target, index), lane -> make.apply(lane.target()));
    }

    /** One of the connections to a target. */
    private record Lane(LinkTarget target, int index) {}
}
