package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.name.DialOrder;
import dev.sandglass.egress.name.Names;
import dev.sandglass.egress.tunnel.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * From allowed hosts to addresses that may be dialled. One denied address among the answers refuses the name: an
 * owner who mixes public addresses with inner ones wants the inner ones dialled.
 */
final class Destinations {

    private final Names names;
    private final DeniedRanges denied;
    private final Duration patience;

    Destinations(Names names, DeniedRanges denied, Duration patience) {
        this.names = names;
        this.denied = denied;
        this.patience = patience;
    }

    /** Where a host leads to; never fails. Only for hosts that are allowed. */
    CompletionStage<Destination> of(Host host) {
        return switch (host) {
            case Host.Literal literal -> CompletableFuture.completedStage(checked(List.of(literal.address())));
            case Host.Name name ->
                names.lookup(name.name())
                        .toCompletableFuture()
                        .copy()
                        .orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
                        .handle(this::answered);
        };
    }

    private Destination answered(@Nullable List<IpAddress> addresses, @Nullable Throwable failure) {
        if (addresses != null && !addresses.isEmpty()) {
            return checked(addresses);
        }
        Throwable cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
        return new Destination.Refused(
                Outcome.LOOKUP_FAILED,
                switch (cause) {
                    case Names.NoSuchName _ -> "DNS has no address for this name";
                    case TimeoutException _ -> "DNS did not answer within " + patience.toMillis() + " ms";
                    case null, default -> "DNS could not say where this name leads; try again";
                });
    }

    /** Why no list opens a host, if that is known without asking DNS. */
    Optional<Destination.Refused> denying(Host host) {
        return switch (host) {
            case Host.Literal literal -> denying(literal.address());
            case Host.Name _ -> Optional.empty();
        };
    }

    private Optional<Destination.Refused> denying(IpAddress address) {
        return denied.denying(address)
                .map(range -> new Destination.Refused(
                        Outcome.ADDRESS_DENIED,
                        "it leads to " + address + ", which no sandbox may reach (" + range + ")"));
    }

    private Destination checked(List<IpAddress> addresses) {
        for (IpAddress address : addresses) {
            Optional<Destination.Refused> refused = denying(address);
            if (refused.isPresent()) {
                return refused.get();
            }
        }
        return new Destination.Reachable(DialOrder.of(addresses));
    }
}
