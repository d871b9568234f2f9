@NullMarked
package dev.sandglass.gateway;

import org.jspecify.annotations.NullMarked;
