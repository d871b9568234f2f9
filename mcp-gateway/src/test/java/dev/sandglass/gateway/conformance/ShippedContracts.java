package dev.sandglass.gateway.conformance;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.dropin.codemode.CodeModeContract;
import dev.sandglass.gateway.contract.dropin.ipybox.IpyboxContract;
import dev.sandglass.gateway.contract.dropin.ipython.IpythonContract;
import dev.sandglass.gateway.contract.sandglass.SandglassContract;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.port.PortSettings;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.websocket.SocketSettings;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/**
 * The contracts of the gateway as it is shipped, before one sandbox in memory: for scenarios that call nothing by a name of
 * the suite's.
 */
final class ShippedContracts {

    private static final Duration SOON = Duration.ofSeconds(2);

    private static final ToolSettings TOOLS =
            new ToolSettings(Duration.ofMinutes(2), Duration.ofHours(1), SOON, 20_000, SOON, SOON);

    private static final PortSettings PORTS = new PortSettings(
            null,
            Duration.ofMinutes(10),
            SOON,
            SOON,
            4,
            6,
            8,
            PortSettings.ReachedBy.LINKS,
            new SocketSettings(4 << 20, 16 << 20, 24 << 20, 40 << 20, Duration.ofSeconds(30)));

    private ShippedContracts() {}

    static List<Contract> of(TenantAccess access) {
        var secret = new LinkSecret("a link secret for tests only, 32 bytes".getBytes(StandardCharsets.US_ASCII));
        var sandboxes = new FakeSandboxes();
        sandboxes.addRunning("box");
        Actions actions =
                Actions.of(sandboxes, new Executions(new FakeSupervisor(), sandboxes::ends), new DeniedHosts());
        var ports = new PortAddresses(secret, PORTS, Clock.systemUTC());
        return List.of(
                new SandglassContract(actions, access, ports, TOOLS),
                new IpythonContract(actions, access, secret, TOOLS),
                new IpyboxContract(actions, access, secret, TOOLS),
                new CodeModeContract(actions, access, secret, TOOLS));
    }
}
