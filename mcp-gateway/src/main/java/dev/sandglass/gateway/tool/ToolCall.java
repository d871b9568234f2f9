package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.execution.OutputListener;

/**
 * One call of a tool.
 *
 * @param caller whose rights count
 * @param arguments what the caller sent; not yet checked
 * @param progress told the output while it comes
 */
public record ToolCall(Caller caller, Arguments arguments, OutputListener progress) {}
