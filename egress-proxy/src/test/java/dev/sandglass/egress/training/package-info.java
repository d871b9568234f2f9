@NullMarked
package dev.sandglass.egress.training;

import org.jspecify.annotations.NullMarked;
