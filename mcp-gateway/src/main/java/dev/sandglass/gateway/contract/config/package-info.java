/** Reads what a caller chooses for a sandbox, be it an argument of a tool or a part of an endpoint's URL. */
@NullMarked
package dev.sandglass.gateway.contract.config;

import org.jspecify.annotations.NullMarked;
