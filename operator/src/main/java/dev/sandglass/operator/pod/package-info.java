/**
 * A pod in which untrusted code runs: what holds the code in, and who the pod is. Nothing here knows the resource that it
 * is made for.
 */
@NullMarked
package dev.sandglass.operator.pod;

import org.jspecify.annotations.NullMarked;
