/**
 * Our tools for sandboxes as a whole: start, stop, list, metrics; and the arguments that name a sandbox, which the tools
 * of the other folders have too.
 */
@NullMarked
package dev.sandglass.gateway.contract.sandglass.sandbox;

import org.jspecify.annotations.NullMarked;
