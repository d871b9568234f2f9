/**
 * The operator's process: reads its settings, puts the parts together, and answers probes. Of the rooms, {@code sandbox}
 * goes through one round for a sandbox, for which {@code lifecycle} decides what to do and {@code child} and {@code pod}
 * describe what to make; {@code watch} and {@code write} are the ways from and to the API server.
 */
@NullMarked
package dev.sandglass.operator;

import org.jspecify.annotations.NullMarked;
