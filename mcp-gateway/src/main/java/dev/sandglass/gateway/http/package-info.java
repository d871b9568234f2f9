/**
 * Connections to the gateway's port: how many, how fast a body is read, how an answer is written and a connection ended.
 * Knows no MCP, no sandboxes and no callers.
 */
@NullMarked
package dev.sandglass.gateway.http;

import org.jspecify.annotations.NullMarked;
