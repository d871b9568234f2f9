/** Our tools for the MCP servers in a sandbox, listed at {@code /mcp?tools=all}. */
@NullMarked
package dev.sandglass.gateway.contract.sandglass.server;

import org.jspecify.annotations.NullMarked;
