package dev.sandglass.api.toolserver;

/** The patterns and CEL expressions of the schema, and the messages users get when a rule is broken. */
final class ToolServerSchemaRules {

    static final String NAME = "self.metadata.name.size() <= 59 && self.metadata.name.matches('^[a-z][a-z0-9-]*$')";
    static final String NAME_WRONG = "metadata.name must be at most 59 lower-case letters, digits and hyphens, a letter"
            + " first and no dots: code imports the tools by it";

    static final String ONE_KIND = "has(self.stdio) != has(self.http)";
    static final String NOT_ONE_KIND = "exactly one of stdio and http must be given";

    static final String PROGRAM = "^[^\\s\\x00]([^\\x00-\\x1f]*[^\\s\\x00])?$";
    static final String FOLDER = "^(/|~$|~/)[^\\x00-\\x1f]*$";

    static final String ARGS_SIZE = "self.map(a, size(a)).sum() <= 65536";
    static final String ARGS_SIZE_EXCEEDED = "arguments together may have at most 65536 characters";

    private static final String LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    private static final String PORT =
            "(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?";
    private static final String HOST = "(" + LABEL + "([.]" + LABEL + ")*[.]?|[[][0-9A-Fa-f:]{2,39}[]])";

    /** What ends a host is the same for every parser then: no backslash, no user, no fragment, no space. */
    static final String URL = "self.matches('^https?://([^/?#]*@)?" + HOST + PORT + "([/?][!-\"$-~]*)?$')";

    static final String URL_WRONG = "must be a URL that begins with http:// or https:// and names a host, such as"
            + " https://mcp.example.com/mcp: printable ASCII without spaces and without #";

    static final String URL_WITHOUT_USER = "!self.matches('^[^/?#]*//[^/?#]*@')";
    static final String URL_WITH_USER = "must have no user and no password; send them as a header";

    static final String HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
    static final String HEADER_VALUE = "^([!-~]([ -~]*[!-~])?)?$";

    static final String ONE_VALUE = "!has(self.valueFrom) || !has(self.value) || size(self.value) == 0";
    static final String TWO_VALUES = "either value or valueFrom may be given, not both";

    static final String OBJECT_NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
    static final String SECRET_OPEN = "self.startsWith('" + SecretKeyRef.PREFIX + "')";
    static final String SECRET_CLOSED =
            "only a Secret whose name begins with sandglass-mcp- may be used; create it under"
                    + " such a name to open it to MCP servers";

    /** As Kubernetes has it: no path, and none of the names that the kubelet uses itself in a volume. */
    static final String SECRET_KEY = "^([.]?[-_A-Za-z0-9][-._A-Za-z0-9]*)$";

    static final String HEADER_NAMES = "self.all(h, self.exists_one(o, o.name.lowerAscii() == h.name.lowerAscii()))";
    static final String HEADER_NAMES_TWICE = "names of headers must be unique; upper and lower case are the same";

    static final String HEADERS_SIZE = "self.map(h, size(h.name) + (has(h.value) ? size(h.value) : 0)).sum() <= 32768";
    static final String HEADERS_SIZE_EXCEEDED =
            "names and values of headers together may have at most 32768 characters";

    static final String CALL_TIMEOUT = "self != '' && self.matches('^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$')"
            + " && duration(self) >= duration('1s') && duration(self) <= duration('24h')";
    static final String CALL_TIMEOUT_WRONG =
            "callTimeout must be a duration from 1s to 24h in hours, minutes and seconds, such as 30s or 1m30s";

    static final String RESULT_BOUNDS = "isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Ki'))"
            + " >= 0 && quantity(string(self)).compareTo(quantity('4Mi')) <= 0 && quantity(string(self)).isInteger()";
    static final String RESULT_OUT_OF_BOUNDS = "maxResultSize must be between 1Ki and 4Mi (a plain number means bytes)";

    private static final String LABEL_NAME = "[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?";
    static final String LABEL_KEY =
            "^([a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*/)?" + LABEL_NAME + "$";
    /** A whole pattern for each key would cost more than the API server lets a rule cost. */
    static final String LABELS = "self.all(k, k.size() <= 317)";

    static final String LABELS_WRONG = "keys of matchLabels may have at most 317 characters";

    static final String VALUES = "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)";
    static final String VALUES_WRONG = "In and NotIn need values; Exists and DoesNotExist take none";

    private ToolServerSchemaRules() {}
}
