/** The chart's one-time job: makes the installation's secrets where they are absent. */
@NullMarked
package dev.sandglass.operator.install;

import org.jspecify.annotations.NullMarked;
