package dev.sandglass.operator.leader;

import dev.sandglass.api.SandboxLabels;
import java.util.Optional;

/**
 * Where the replicas agree on one that works.
 *
 * @param namespace of the Lease
 * @param lease {@code OPERATOR_LEASE}, default {@link SandboxLabels#OPERATOR}: its name, one for each installation
 * @param account {@code OPERATOR_OWN_ACCOUNT}: the operator's service account there, with which the Lease goes; default
 *     none: it stays
 */
public record Election(String namespace, String lease, Optional<String> account) {}
