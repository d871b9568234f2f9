package dev.sandglass.operator.settings;

import java.util.Optional;

/**
 * What sandboxes try to reach in vain; see {@link dev.sandglass.operator.pod.NetworkProbe}.
 *
 * @param apiServer the Service of the API server as this process knows it; empty outside of a cluster
 * @param gatewayService name of the MCP gateway's Service in the installation's own namespace, if sandboxes try that too
 * @param required whether a sandbox that reaches one of them runs no code
 */
public record ProbeSettings(Optional<ClosedAddress> apiServer, Optional<String> gatewayService, boolean required) {}
