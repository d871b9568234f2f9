/**
 * What became of each request: one line in the log, the metrics, and word to the gateways about targets that were not
 * reached.
 */
@NullMarked
package dev.sandglass.egress.audit;

import org.jspecify.annotations.NullMarked;
