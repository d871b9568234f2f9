/** What is measured of the operator's work. */
@NullMarked
package dev.sandglass.operator.metrics;

import org.jspecify.annotations.NullMarked;
