/** A sandbox from its start to its end, whatever ends it: deadlines, evictions, restarts, cut networks, dying replicas. */
@NullMarked
package dev.sandglass.e2e.lifecycle;

import org.jspecify.annotations.NullMarked;
