/** The kind {@code SandboxPool}: pods that are kept ready, so that a sandbox starts in milliseconds. */
@NullMarked
package dev.sandglass.api.pool;

import org.jspecify.annotations.NullMarked;
