/** From allowed names to addresses that may be dialled, in the order of dialling. */
@NullMarked
package dev.sandglass.egress.name;

import org.jspecify.annotations.NullMarked;
