/** The pools of a namespace: which seats are made, kept and ended, and what their status says. */
@NullMarked
package dev.sandglass.operator.pool;

import org.jspecify.annotations.NullMarked;
