package dev.sandglass.egress.name;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Turns names into addresses. Asked for names only that are allowed. */
@FunctionalInterface
public interface Names {

    /**
     * Looks a name up.
     *
     * @return its addresses, at least one; or fails: with {@link NoSuchName} if there is none, else if no server answered
     */
    CompletionStage<List<IpAddress>> lookup(HostName name);

    /** DNS has no address for that name. */
    final class NoSuchName extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean denied;

        /** A server said that there is no such name. */
        public NoSuchName(HostName name) {
            this(name, true);
        }

        /**
         * There is no address.
         *
         * @param denied whether a server said that there is no such name; else it gave no address, which one that refuses
         *     to answer does too
         */
        NoSuchName(HostName name, boolean denied) {
            super("DNS has no address for " + name);
            this.denied = denied;
        }

        boolean isDenied() {
            return denied;
        }
    }
}
