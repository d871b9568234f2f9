/**
 * For the image's build alone, and never used in a cluster: calls to ourselves, before a stand-in for a sandbox, from which
 * the virtual machine learns what the image's AOT cache keeps (JEP 514, 515). It is part of the application because such a
 * cache is tied to the class path.
 */
@NullMarked
package dev.sandglass.gateway.training;

import org.jspecify.annotations.NullMarked;
