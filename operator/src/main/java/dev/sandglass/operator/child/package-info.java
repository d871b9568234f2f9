/**
 * What a sandbox consists of in Kubernetes, as pure functions from the resource and the settings. Nothing here is
 * configurable by a tenant beyond the fields of the spec.
 */
@NullMarked
package dev.sandglass.operator.child;

import org.jspecify.annotations.NullMarked;
