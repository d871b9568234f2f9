/**
 * Ports of sandboxes on the gateway's public port: HTTP and WebSocket, for whoever may use the sandbox. What comes from a
 * sandbox is untrusted code's, on our origin: ADR-0007 says what is done about it.
 */
@NullMarked
package dev.sandglass.gateway.port;

import org.jspecify.annotations.NullMarked;
