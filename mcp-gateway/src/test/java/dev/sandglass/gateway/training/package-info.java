@NullMarked
package dev.sandglass.gateway.training;

import org.jspecify.annotations.NullMarked;
