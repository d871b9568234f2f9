package dev.sandglass.gateway.toolserver;

/**
 * An entry of a Secret that is mounted into a server's pod. The supervisor there reads its value at each start of the
 * server; it is never known here.
 *
 * @param secret name of the Secret
 * @param key of the entry
 */
public record SecretEntry(String secret, String key) {}
