package dev.sandglass.gateway.websocket;

import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.Optional;

/**
 * What frames under way may hold: of a sandbox, so that something is left for its tenant's others; of a tenant, so that
 * something is left for other tenants, however many sandboxes it has; and of a replica. Thread-safe.
 */
public final class FrameBudget {

    private final ByteBudget ofSandboxes;
    private final ByteBudget ofTenants;

    FrameBudget(SocketSettings settings) {
        this.ofSandboxes = new ByteBudget(settings.maxBytes(), settings.maxBytesPerSandbox());
        this.ofTenants = new ByteBudget(settings.maxBytes(), settings.maxBytesPerTenant());
    }

    /** What one direction of a sandbox's socket holds; nothing yet. */
    Share share(RunningSandbox sandbox) {
        return new Share(
                ofSandboxes.share(sandbox.uid()), ofTenants.share(sandbox.ref().tenant()));
    }

    /** Bytes of all. */
    public long held() {
        return ofTenants.held();
    }

    /** What one direction of a socket holds; its end gives back all of it. */
    final class Share {
        private final ByteBudget.Share ofSandbox;
        private final ByteBudget.Share ofTenant;

        private Share(ByteBudget.Share ofSandbox, ByteBudget.Share ofTenant) {
            this.ofSandbox = ofSandbox;
            this.ofTenant = ofTenant;
        }

        /** Takes so many bytes, or none and says for want of whose room. */
        Optional<String> take(long bytes) {
            Optional<String> none = full(ofSandbox.take(bytes), "sandbox", ofSandboxes);
            if (none.isEmpty()) {
                none = full(ofTenant.take(bytes), "tenant", ofTenants);
                none.ifPresent(_ -> ofSandbox.give(bytes));
            }
            return none;
        }

        /** Gives so many bytes back, or as many as are held. */
        void give(long bytes) {
            ofSandbox.give(bytes);
            ofTenant.give(bytes);
        }

        /** Gives back what is held, once and for all. */
        void end() {
            ofSandbox.end();
            ofTenant.end();
        }
    }

    private static Optional<String> full(ByteBudget.Taken taken, String owner, ByteBudget budget) {
        return switch (taken) {
            case YES -> Optional.empty();
            case NO_ROOM_OF_OWNER -> Optional.of(full(owner, budget.mostOfOne()));
            case NO_ROOM -> Optional.of(full("replica", budget.most()));
        };
    }

    private static String full(String whose, long most) {
        return "This %s's WebSockets hold %d bytes of frames, the most. Send less at once, read faster, or try later."
                .formatted(whose, most);
    }
}
