package dev.sandglass.api;

/**
 * The CEL expressions about an entry of {@code allowedDomains}, and the messages users get when one is broken. They refuse
 * nothing that {@link dev.sandglass.api.egress.DomainRule} allows. What they let through and Java refuses: bits beyond the
 * prefix of a range, IPv4 addresses wrapped in IPv6, more than eight groups around a {@code ::}, and wildcards right below
 * a registry's second level ({@code *.co.uk}). The API server's own functions for addresses would see the first two, but not
 * every version that we support has them.
 */
final class DomainSchemaRules {

    private static final String LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    private static final String PORT =
            "(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?";

    private static final String NAME = "^([*][.])?" + LABEL + "([.]" + LABEL + ")*[.]?" + PORT + "$";
    private static final String NAME_OF_ALLOWED_LENGTH = "^([*][.])?[A-Za-z0-9.-]{0,252}[A-Za-z0-9][.]?(:[0-9]{1,5})?$";
    private static final String NUMBER_AT_THE_END = "(^|[.])([0-9]+|0[xX][0-9A-Fa-f]*)[.]?(:[0-9]{1,5})?$";

    private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final String FOUR = "^" + OCTET + "([.]" + OCTET + "){3}(/(3[0-2]|[12]?[0-9]))?" + PORT + "$";

    private static final String GROUP = "[0-9A-Fa-f]{1,4}";
    private static final String SOME_GROUPS = "(" + GROUP + "(:" + GROUP + "){0,6})?";
    private static final String SIX = "(" + GROUP + "(:" + GROUP + "){7}|" + SOME_GROUPS + "::" + SOME_GROUPS + ")"
            + "(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?";
    private static final String SIX_OR_IN_BRACKETS = "^(" + SIX + "|[[]" + SIX + "[]]" + PORT + ")$";

    static final String ENTRY = "self == '*' || (self.matches('" + NAME + "') && self.matches('"
            + NAME_OF_ALLOWED_LENGTH + "') && !self.matches('" + NUMBER_AT_THE_END + "')) || self.matches('" + FOUR
            + "') || self.matches('" + SIX_OR_IN_BRACKETS + "')";
    static final String NOT_AN_ENTRY =
            "must be a name such as example.com, a wildcard such as *.example.com, an IP address"
                    + " or a range such as 192.0.2.0/24, each with a port such as example.com:8443 or without, or * alone; no"
                    + " URL, no other place for a *, and letters beyond ASCII as xn--";

    static final String NOT_A_WHOLE_TLD = "!self.matches('^[*][.][^.:]*[.]?(:[0-9]{1,5})?$')";
    static final String A_WHOLE_TLD = "a wildcard needs the name of a domain, such as *.example.com: *.com would allow"
            + " names of everybody who registers one";

    private DomainSchemaRules() {}
}
