/**
 * Reads watches and lists of the API server such that no text in an object and no object ends them (ADR 0020). The operator,
 * the gateway and the egress proxy all watch through this.
 */
@NullMarked
package dev.sandglass.api.watch;

import org.jspecify.annotations.NullMarked;
