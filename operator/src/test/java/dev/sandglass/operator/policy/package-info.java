/** The chart's admission policies, as rendered, before a real API server. */
@NullMarked
package dev.sandglass.operator.policy;

import org.jspecify.annotations.NullMarked;
