/**
 * What an answer keeps of an execution's output: capped text, the terminal's last state, pictures, the last value, and the
 * memory that all of it takes.
 */
@NullMarked
package dev.sandglass.gateway.output;

import org.jspecify.annotations.NullMarked;
