/**
 * MCP servers whose tools code in a sandbox calls as functions: how one is registered, and what a sandbox tells of those
 * that it has. What it tells is untrusted, and has a bound in every part.
 */
@NullMarked
package dev.sandglass.gateway.toolserver;

import org.jspecify.annotations.NullMarked;
