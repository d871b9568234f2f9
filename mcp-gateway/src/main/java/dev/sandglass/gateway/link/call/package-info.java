/** Calls that come from a pod: which kinds this gateway answers, and those that have no answer yet. */
@NullMarked
package dev.sandglass.gateway.link.call;

import org.jspecify.annotations.NullMarked;
