/**
 * Calls that code in sandboxes makes of MCP servers which they share: who may call what, how many at a time, and the way
 * to the pod in which the server runs. What is asked comes from code, and what is answered from somebody's server: both
 * are untrusted and have bounds.
 */
@NullMarked
package dev.sandglass.gateway.toolcall;

import org.jspecify.annotations.NullMarked;
