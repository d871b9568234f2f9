@NullMarked
package dev.sandglass.operator.training;

import org.jspecify.annotations.NullMarked;
