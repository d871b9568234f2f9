/**
 * ZeroMQ's wire, ZMTP 3.1, with CURVE: greeting, handshake, boxed frames and heartbeat of a DEALER socket. It imports nothing
 * of ours, so that it can be read and attacked alone. What the frames say is the business of {@code link}.
 */
@NullMarked
package dev.sandglass.gateway.zmtp;

import org.jspecify.annotations.NullMarked;
