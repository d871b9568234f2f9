package dev.sandglass.gateway.action;

/**
 * The operator had suspended the sandbox, and it was resumed for this call: variables of earlier calls are lost, and files
 * outside a persistent workspace.
 *
 * @param reason why it was suspended: that of the Suspended condition, one enumerated word
 */
public record Resumed(String reason) {}
