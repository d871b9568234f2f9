/**
 * What any contract needs: a contract has a path, and offers a server name, instructions, prompts and tools; a tool reads
 * its caller's words, checks its rights, calls a use case of {@code action} and renders the facts. Knows neither JSON-RPC
 * nor HTTP. Each contract is a package below this one, which no other package but the application's imports.
 */
@NullMarked
package dev.sandglass.gateway.contract;

import org.jspecify.annotations.NullMarked;
