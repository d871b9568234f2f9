@NullMarked
package dev.sandglass.gateway.execution;

import org.jspecify.annotations.NullMarked;
