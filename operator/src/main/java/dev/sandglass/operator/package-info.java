/**
 * The operator: watches sandboxes, what it made for them and their activity, and brings them together. Shells only;
 * what to do is decided in {@code lifecycle}, what to make is described in {@code child}.
 */
@NullMarked
package dev.sandglass.operator;

import org.jspecify.annotations.NullMarked;
