/**
 * The MCP endpoint: JSON-RPC over HTTP in the revision 2026-07-28 and in those before it, without any session. Why there
 * is a layer of our own: docs/adr/0001-own-mcp-layer.md.
 */
@NullMarked
package dev.sandglass.gateway.mcp;

import org.jspecify.annotations.NullMarked;
