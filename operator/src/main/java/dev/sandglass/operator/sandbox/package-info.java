/** One round for one sandbox: gathers what is known, has the lifecycle decide, acts and reports. */
@NullMarked
package dev.sandglass.operator.sandbox;

import org.jspecify.annotations.NullMarked;
