package dev.sandglass.gateway.contract;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What callers get when they do not say, and the most that they may ask for (contracts.md, "where the contracts clash").
 *
 * @param timeout of an execution, from the start of its run
 * @param maxTimeout the longest time-out a caller may ask for
 * @param waitFor how long a call holds the line, below the minute that MCP clients allow
 * @param maxOutputChars of an answer
 * @param startWait how long {@code sandbox_start} holds the line, and a call whose sandbox is resumed for it (ADR 0016)
 * @param metricsWait after which a sandbox that did not answer is told as null
 */
public record ToolSettings(
        @DefaultValue("120s") Duration timeout,
        @DefaultValue("3600s") Duration maxTimeout,
        @DefaultValue("50s") Duration waitFor,
        @DefaultValue("20000") int maxOutputChars,
        @DefaultValue("50s") Duration startWait,
        @DefaultValue("2s") Duration metricsWait) {}
