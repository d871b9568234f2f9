/** What the operator watches, which changes count, and how much of what it reads its caches keep. */
@NullMarked
package dev.sandglass.operator.watch;

import org.jspecify.annotations.NullMarked;
