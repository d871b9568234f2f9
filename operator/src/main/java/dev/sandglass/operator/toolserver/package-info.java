/** One round for one tool server: looks at its Sandbox, decides, makes or mends it, and reports. */
@NullMarked
package dev.sandglass.operator.toolserver;

import org.jspecify.annotations.NullMarked;
