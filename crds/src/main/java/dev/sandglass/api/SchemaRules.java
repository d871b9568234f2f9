package dev.sandglass.api;

/**
 * The CEL expressions of the schema and the messages users get when one is broken; public are those that several kinds
 * have.
 */
public final class SchemaRules {

    public static final String ENV_NAME_NOT_RESERVED = "!self.upperAscii().startsWith('SANDGLASS_')"
            + " && !self.upperAscii().startsWith('LD_')"
            + " && !(self.upperAscii() in ['HTTP_PROXY','HTTPS_PROXY','FTP_PROXY','ALL_PROXY','NO_PROXY',"
            + "'NODE_USE_ENV_PROXY','NPM_CONFIG_PROXY','NPM_CONFIG_HTTP_PROXY','NPM_CONFIG_HTTPS_PROXY',"
            + "'NPM_CONFIG_NOPROXY','PIP_PROXY','JAVA_TOOL_OPTIONS','GIT_SSH_COMMAND','PYTHONSTARTUP'])";
    public static final String ENV_NAME_RESERVED =
            "this name is reserved: Sandglass sets it, or it would change what" + " surrounds the code";

    public static final String ENV_SIZE =
            "self.map(e, size(e.name) + (has(e.value) ? size(e.value) : 0)).sum() <= 32768";
    public static final String ENV_SIZE_EXCEEDED = "names and values together may have at most 32768 characters";

    static final String LEAST_BYTES = "64Mi";
    static final String MOST_MEMORY = "1Ti";
    static final String MOST_DISK = "10Ti";
    static final String LEAST_CPUS = "50m";
    static final String MOST_CPUS = "256";

    private static final String AT_LEAST = "isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('";
    private static final String AT_MOST = "')) >= 0 && quantity(string(self)).compareTo(quantity('";
    private static final String BYTES = " (a plain number means bytes)";

    public static final String MEMORY_BOUNDS = AT_LEAST + LEAST_BYTES + AT_MOST + MOST_MEMORY + "')) <= 0";
    public static final String MEMORY_OUT_OF_BOUNDS =
            "memory must be between " + LEAST_BYTES + " and " + MOST_MEMORY + BYTES;

    public static final String CPUS_BOUNDS = AT_LEAST + LEAST_CPUS + AT_MOST + MOST_CPUS + "')) <= 0";
    public static final String CPUS_OUT_OF_BOUNDS = "cpus must be between " + LEAST_CPUS + " and " + MOST_CPUS;

    public static final String DISK_BOUNDS = AT_LEAST + LEAST_BYTES + AT_MOST + MOST_DISK + "')) <= 0";
    public static final String DISK_OUT_OF_BOUNDS = "disk must be between " + LEAST_BYTES + " and " + MOST_DISK + BYTES;

    private static final String DURATION_FORM = "self != '' && self.matches('" + Durations.PATTERN
            + "') && duration(self) >= duration('10s')" + " && duration(self) <= duration('";
    private static final String DURATION_RULE = " in hours, minutes and seconds, such as 30m, 8h or 1h30m";
    public static final String UP_TO_A_MONTH = DURATION_FORM + "720h')";
    static final String UP_TO_A_YEAR = DURATION_FORM + "8760h')";
    public static final String IDLE_TIMEOUT_WRONG = "idleTimeout must be a duration from 10s to 720h" + DURATION_RULE;
    static final String MAX_LIFETIME_WRONG = "maxLifetime must be a duration from 10s to 720h" + DURATION_RULE;
    static final String RETENTION_WRONG = "retention must be a duration from 10s to 8760h" + DURATION_RULE;

    public static final String RUNTIME_CLASS_NAME =
            "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')";
    public static final String RUNTIME_CLASS_NAME_WRONG =
            "runtimeClassName must be the name of a RuntimeClass: lower-case"
                    + " letters, digits, hyphens and dots, such as gvisor";

    static final String PORT_NOT_LINK = "self != 5710";
    static final String PORT_IS_LINK =
            "port 5710 belongs to the link between gateway and sandbox; serve on another one";

    static final String PORT_NAMES =
            "self.filter(p, has(p.name)).all(p, self.exists_one(q, has(q.name) && q.name == p.name))";
    static final String PORT_NAMES_TWICE = "names of ports must be unique";

    public static final String NAME = "self.metadata.name.size() <= 63 && !self.metadata.name.contains('.')";
    public static final String NAME_NOT_A_LABEL =
            "metadata.name must be a DNS label: at most 63 lower-case letters, digits" + " and hyphens, no dots";

    private SchemaRules() {}
}
