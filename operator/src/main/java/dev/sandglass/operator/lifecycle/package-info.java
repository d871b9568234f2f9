/** What to do with a sandbox and what to say about it, as pure functions of everything that was seen. */
@NullMarked
package dev.sandglass.operator.lifecycle;

import org.jspecify.annotations.NullMarked;
