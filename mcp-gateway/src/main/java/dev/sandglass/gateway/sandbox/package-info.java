/**
 * What the gateway knows of sandboxes: their names, which of them run and where, and how to start and stop them. The
 * types here say nothing of Kubernetes; the room {@code kubernetes} plugs in below {@link Sandboxes}.
 */
@NullMarked
package dev.sandglass.gateway.sandbox;

import org.jspecify.annotations.NullMarked;
