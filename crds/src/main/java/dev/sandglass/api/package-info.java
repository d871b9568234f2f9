/**
 * What operator and gateway agree on: the {@code Sandbox} resource, its labels and names, and the derivation of the
 * link keys. Pure values; nothing here talks to a cluster.
 */
@NullMarked
package dev.sandglass.api;

import org.jspecify.annotations.NullMarked;
