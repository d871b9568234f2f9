package dev.sandglass.api.egress;

/** Whether a sandbox may go where it asked to. */
public sealed interface Verdict {

    /** It may, because of that rule. */
    record Allowed(DomainRule rule) implements Verdict {}

    /** It may not. */
    record Denied(Why why) implements Verdict {}

    /** Why not; each with a text for the caller. */
    enum Why {
        /** The list is empty. */
        NOTHING_ALLOWED("this sandbox may not reach any host"),
        /** No entry is about the name. */
        NAME_NOT_LISTED("no entry of allowedDomains covers this name"),
        /** An entry covers the host, but not this port. */
        PORT_NOT_LISTED("allowedDomains has this host, but not this port"),
        /** No entry is about the address; names do not count. */
        ADDRESS_NOT_LISTED(
                "allowedDomains has no entry for this address, and entries for names do not cover addresses");

        private final String sentence;

        Why(String sentence) {
            this.sentence = sentence;
        }

        /** In words, without a full stop. */
        public String sentence() {
            return sentence;
        }
    }
}
