/**
 * What operator, gateway and egress proxy agree on: the {@code Sandbox} resource with its rules and its labels. Pure
 * values; nothing here talks to a cluster.
 */
@NullMarked
package dev.sandglass.api;

import org.jspecify.annotations.NullMarked;
