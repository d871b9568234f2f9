package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.OutputListener;
import java.time.Duration;

/**
 * How a call waits for a sandbox that is not up yet.
 *
 * @param atMost how long; what it waits for goes on after that
 * @param progress hears meanwhile what it waits for, and then what is printed
 */
public record Patience(Duration atMost, OutputListener progress) {}
