/** Which replica of the operator works. */
@NullMarked
package dev.sandglass.operator.leader;

import org.jspecify.annotations.NullMarked;
