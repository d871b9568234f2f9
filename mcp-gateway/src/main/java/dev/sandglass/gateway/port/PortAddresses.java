package dev.sandglass.gateway.port;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Tells where the ports of a sandbox are reached, and makes the links for browsers on the way. */
public final class PortAddresses {

    private final PortLinks links;
    private final PortSettings settings;
    private final InstantSource clock;

    /** Makes links that every replica with the same secret reads. */
    public PortAddresses(LinkSecret secret, PortSettings settings, InstantSource clock) {
        this.links = new PortLinks(secret);
        this.settings = settings;
        this.clock = clock;
    }

    /** Whether this installation makes ports reachable at all. */
    public boolean areReached() {
        return settings.reachedBy() != ReachedBy.NONE;
    }

    /** The addresses of all declared ports, in their order, for that caller; none if none is reached. */
    public List<PortAddress> of(Caller caller, RunningSandbox sandbox) {
        if (!areReached()) {
            return List.of();
        }
        Instant expires = clock.instant().plus(settings.linkLifetime()).truncatedTo(ChronoUnit.SECONDS);
        return sandbox.declared().stream()
                .map(port -> address(caller, sandbox, port, expires))
                .toList();
    }

    private PortAddress address(Caller caller, RunningSandbox sandbox, SandboxPort port, Instant expires) {
        String tenant = sandbox.ref().tenant();
        String name = sandbox.ref().givenName();
        PortPath plain = PortPath.of(tenant, name, port.port(), null);
        String url = settings.base() + plain.home() + "/";
        if (settings.reachedBy() == ReachedBy.KEYS) {
            return new PortAddress(port.port(), port.name(), url, null, null);
        }
        String link = links.issue(sandbox.uid(), port.port(), caller.name(), expires)
                .map(permission ->
                        PortPath.of(tenant, name, port.port(), permission).prefix())
                .orElseGet(plain::home);
        return new PortAddress(port.port(), port.name(), url, settings.base() + link + "/", expires.toString());
    }
}
