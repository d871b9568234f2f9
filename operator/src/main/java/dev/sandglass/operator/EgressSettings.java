package dev.sandglass.operator;

import dev.sandglass.operator.settings.Egress;
import java.nio.file.Path;

/**
 * Where the egress proxy is that the installation has.
 *
 * @param service name of its Service, in the installation's own namespace
 * @param secretFile see {@link dev.sandglass.api.egress.EgressSecret}
 * @param walls what it lets through
 */
record EgressSettings(String service, Path secretFile, Egress walls) {}
