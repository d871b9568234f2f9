package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.client.Clients;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Sandboxes at addresses of the loopback network, as a test says. */
public final class FakeClients implements Clients {

    private final Map<IpAddress, Client> byAddress = new ConcurrentHashMap<>();
    private final Set<IpAddress> seats = ConcurrentHashMap.newKeySet();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    public final AtomicInteger confirmations = new AtomicInteger();
    public final AtomicInteger questions = new AtomicInteger();
    private volatile boolean synced = true;
    private volatile boolean doubted;

    /** Puts a sandbox at an address, or gives the one there another list. */
    public void put(String address, String uid, String... allowedDomains) {
        claim(address, uid, uid, allowedDomains);
    }

    /** Puts a seat at an address, which nobody has claimed. */
    public void putSeat(String address) {
        seats.add(IpAddress.parse(address));
    }

    /** Puts a sandbox at an address whose pod has the credential of that seat. */
    public void claim(String address, String uid, String seat, String... allowedDomains) {
        EgressRules rules = EgressRules.parse(List.of(allowedDomains));
        byAddress.put(IpAddress.parse(address), new Client(uid, seat, "tenant", "name-of-" + uid, rules));
        listeners.forEach(listener -> listener.accept(uid));
    }

    /** The pod at an address has ended. */
    public void remove(String address) {
        Client gone = byAddress.remove(IpAddress.parse(address));
        listeners.forEach(listener -> listener.accept(gone == null ? "" : gone.uid()));
    }

    public void setSynced(boolean value) {
        synced = value;
    }

    @Override
    public boolean isSynced() {
        return synced;
    }

    @Override
    public Optional<Client> at(IpAddress source) {
        questions.incrementAndGet();
        return Optional.ofNullable(byAddress.get(source));
    }

    @Override
    public boolean awaitsClaim(IpAddress source) {
        return seats.contains(source) && !byAddress.containsKey(source);
    }

    /** What is asked anew of a sandbox fails from now on, as if its address had just passed to another. */
    public void doubt() {
        doubted = true;
    }

    @Override
    public CompletionStage<Boolean> confirm(IpAddress source, String uid) {
        confirmations.incrementAndGet();
        return CompletableFuture.completedStage(
                !doubted && at(source).map(Client::uid).equals(Optional.of(uid)));
    }

    @Override
    public boolean knows(String uid) {
        return byAddress.values().stream().anyMatch(client -> client.uid().equals(uid));
    }

    @Override
    public void onChange(Consumer<String> listener) {
        listeners.add(listener);
    }
}
