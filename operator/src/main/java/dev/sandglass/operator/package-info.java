@NullMarked
package dev.sandglass.operator;

import org.jspecify.annotations.NullMarked;
