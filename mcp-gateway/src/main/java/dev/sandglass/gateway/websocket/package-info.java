/** WebSockets to ports of sandboxes: the handshake passed on, and frames in bounded memory. */
@NullMarked
package dev.sandglass.gateway.websocket;

import org.jspecify.annotations.NullMarked;
