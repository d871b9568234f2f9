/** Warm starts: seats, claims, and what may not come of them. */
@NullMarked
package dev.sandglass.e2e.pool;

import org.jspecify.annotations.NullMarked;
