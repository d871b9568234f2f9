package dev.sandglass.gateway.toolserver;

/**
 * A tool of an MCP server.
 *
 * @param name as the server calls it: untrusted, bounded, on one line
 * @param module as code imports it: an identifier
 * @param description the beginning of what the server says of it: untrusted, bounded, on one line; may be empty
 */
public record ServerTool(String name, String module, String description) {}
