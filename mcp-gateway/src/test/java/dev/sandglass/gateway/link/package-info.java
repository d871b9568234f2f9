@NullMarked
package dev.sandglass.gateway.link;

import org.jspecify.annotations.NullMarked;
