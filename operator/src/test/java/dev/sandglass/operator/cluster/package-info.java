/**
 * The whole operator against a real API server, with faults between the two: an API that fails, dies or lags, a node that
 * is played.
 */
@NullMarked
package dev.sandglass.operator.cluster;

import org.jspecify.annotations.NullMarked;
