package dev.sandglass.egress.client;

import dev.sandglass.api.egress.IpAddress;
import java.util.Optional;

/** Who a connection comes from: its address says it, and a credential must not say otherwise. */
public final class ClientAdmission {

    /** What came of it. */
    public sealed interface Answer {

        /** It comes from that sandbox. */
        record Known(Client client) implements Answer {}

        /** Not known yet, since the caches are not filled. */
        record NotYet() implements Answer {}

        /**
         * It comes from no client that may use the proxy.
         *
         * @param why in words
         */
        record Unknown(String why) implements Answer {}
    }

    private final Clients clients;
    private final Credentials credentials;
    private final boolean credentialRequired;

    /**
     * Admission by address and credential.
     *
     * @param credentialRequired whether a request without a credential is refused
     */
    public ClientAdmission(Clients clients, Credentials credentials, boolean credentialRequired) {
        this.clients = clients;
        this.credentials = credentials;
        this.credentialRequired = credentialRequired;
    }

    /** Who the sandbox is behind a request from that address, with that {@code Proxy-Authorization}. */
    public Answer of(IpAddress source, Optional<String> credential) {
        if (!clients.isSynced()) {
            return new Answer.NotYet();
        }
        Optional<Client> client = clients.at(source);
        if (client.isEmpty()) {
            return new Answer.Unknown("the proxy knows no running sandbox at this address");
        }
        if (credential.isEmpty()) {
            return credentialRequired
                    ? new Answer.Unknown("the credential of the proxy variables is required")
                    : new Answer.Known(client.get());
        }
        boolean same = BasicCredential.parse(credential.get())
                .filter(shown -> credentials.belongTo(client.get(), shown.user(), shown.password()))
                .isPresent();
        return same
                ? new Answer.Known(client.get())
                : new Answer.Unknown("the credential is not that of the sandbox at this address");
    }
}
