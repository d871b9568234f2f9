@NullMarked
package dev.sandglass.gateway.zmtp;

import org.jspecify.annotations.NullMarked;
