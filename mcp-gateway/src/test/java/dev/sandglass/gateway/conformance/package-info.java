/** What the official conformance suite asks of a server under test, served by the real endpoint ({@code e2e/clients/conformance}). */
@NullMarked
package dev.sandglass.gateway.conformance;

import org.jspecify.annotations.NullMarked;
