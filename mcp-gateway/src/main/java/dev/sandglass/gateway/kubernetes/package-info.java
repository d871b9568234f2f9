/**
 * Sandboxes as resources of Kubernetes: plugs in below {@link dev.sandglass.gateway.sandbox.Sandboxes}. The only room
 * that talks to an API server; every call that blocks goes through {@link dev.sandglass.gateway.kubernetes.ApiCalls}.
 */
@NullMarked
package dev.sandglass.gateway.kubernetes;

import org.jspecify.annotations.NullMarked;
