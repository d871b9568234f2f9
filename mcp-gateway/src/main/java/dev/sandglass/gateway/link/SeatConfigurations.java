package dev.sandglass.gateway.link;

import dev.sandglass.gateway.sandbox.SeatConfiguration;
import java.util.Optional;

/** Knows the sandboxes: says what a seat is to be configured with that one of them claimed. */
@FunctionalInterface
public interface SeatConfigurations {

    /** For links to pods that were made for their sandboxes. */
    SeatConfigurations NONE = _ -> Optional.empty();

    /**
     * The configuration as the sandbox's resource has it now. Asked on the links' thread each time that a seat says that it
     * is not configured; never blocks.
     *
     * @return empty if that sandbox is not known here to be in that seat, yet or any more
     */
    Optional<SeatConfiguration> of(LinkTarget target);
}
