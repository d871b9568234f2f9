package dev.sandglass.gateway.caller;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import reactor.core.publisher.Mono;

/** The API keys accepted at this moment. Safe for use by many threads; replaced as a whole when the folder changes. */
public final class ApiKeys implements Callers {

    private static final int MAX_TOKEN_CHARS = 512;

    private volatile List<ApiKey> keys;

    ApiKeys(List<ApiKey> keys) {
        this.keys = List.copyOf(keys);
    }

    void replace(List<ApiKey> now) {
        keys = List.copyOf(now);
    }

    int size() {
        return keys.size();
    }

    /**
     * The caller who holds this token. Every key is compared, each in constant time, so that the time taken tells
     * nothing about which one nearly matched.
     */
    @Override
    public Mono<Caller> callerOf(String token) {
        if (token.isEmpty() || token.length() > MAX_TOKEN_CHARS) {
            return Mono.empty();
        }
        byte[] digest = sha256(token);
        Caller found = null;
        for (ApiKey key : keys) {
            if (key.sha256().matches(digest)) {
                found = key.caller();
            }
        }
        return Mono.justOrEmpty(found);
    }

    @Override
    public Mono<Caller> named(String name) {
        return Mono.justOrEmpty(keys.stream()
                .map(ApiKey::caller)
                .filter(caller -> caller.name().equals(name))
                .findFirst());
    }

    @Override
    public boolean nameTenant(String tenant) {
        return keys.stream().anyMatch(key -> key.caller().tenants().contains(tenant));
    }

    private static byte[] sha256(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java platform has SHA-256", impossible);
        }
    }
}
