/** Pools and claims: rounds against a stand-in for the API server, and a whole operator against a real one. */
@NullMarked
package dev.sandglass.operator.warmstart;

import org.jspecify.annotations.NullMarked;
