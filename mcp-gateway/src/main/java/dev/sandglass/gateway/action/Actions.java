package dev.sandglass.gateway.action;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolcall.SharedServerList;

/**
 * All use cases; what a contract is built over.
 *
 * @param lifecycle start, stop and delete
 * @param runs code, commands and installers, and what they printed
 * @param sessions interrupt, reset and close
 * @param files read, write, list and manage
 * @param overview which sandboxes there are, what is in them and what they use
 * @param folders what is in folders of sandboxes that run
 * @param servers MCP servers whose tools the code calls
 */
public record Actions(
        SandboxActions lifecycle,
        Runs runs,
        SessionActions sessions,
        FileActions files,
        Overview overview,
        RunningFolders folders,
        ToolServerActions servers) {

    /** The use cases over these sandboxes and what runs in them, without MCP servers that sandboxes share. */
    public static Actions of(Sandboxes sandboxes, Executions executions, DeniedHosts denied) {
        return of(sandboxes, executions, denied, SharedServerList.NONE, OwnPods.NONE);
    }

    /** The use cases over these sandboxes, what runs in them, and the MCP servers outside of them. */
    public static Actions of(
            Sandboxes sandboxes, Executions executions, DeniedHosts denied, SharedServerList shared, OwnPods ownPods) {
        var lifecycle = new SandboxActions(sandboxes, executions);
        var ready = new ReadySandboxes(sandboxes, executions, lifecycle);
        var files = new SandboxFiles(executions);
        return new Actions(
                lifecycle,
                new Runs(sandboxes, ready, executions, new UnreachedTargets(denied)),
                new SessionActions(sandboxes, executions.sessions()),
                new FileActions(ready, files),
                new Overview(sandboxes, executions),
                new RunningFolders(sandboxes, files),
                new ToolServerActions(sandboxes, ready, executions, shared, ownPods));
    }
}
