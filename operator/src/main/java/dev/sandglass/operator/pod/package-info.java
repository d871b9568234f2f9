/**
 * A pod in which untrusted code runs, in two halves. {@link dev.sandglass.operator.pod.PodShape} is all that holds the code in,
 * the same for every pod; {@link dev.sandglass.operator.pod.PodIdentity} is who one pod is, and its
 * {@link dev.sandglass.operator.pod.PodSubject} what its names, its Secret and its keys derive from. Nothing here knows the
 * resource that a pod is made for.
 */
@NullMarked
package dev.sandglass.operator.pod;

import org.jspecify.annotations.NullMarked;
