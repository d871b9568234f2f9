package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.LinkException;

/** Refusals of supervisors that tests of other rooms make up. */
public final class Refusals {

    private Refusals() {}

    /** As it comes out of a link. */
    public static LinkException of(String code, String message) {
        return new LinkException(LinkException.Kind.REFUSED, code, message);
    }
}
