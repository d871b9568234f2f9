package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.Verb;
import java.util.List;

/** What is to be run, in the words of the link. Pure. */
final class Orders {

    private static final String WORKSPACE = "/workspace/";

    private Orders() {}

    static Verb.Following verb(ExecutionId id, ExecutionRequest request, boolean attach) {
        return switch (request) {
            case ExecutionRequest.Code code ->
                new Verb.Execute(
                        id.number(),
                        code.language(),
                        code.session(),
                        code.label(),
                        code.fresh() != null,
                        code.fresh() == null ? List.of() : code.fresh().servers(),
                        code.pythonEnv(),
                        Blob.utf8(code.code()),
                        code.envs(),
                        code.limits().timeout(),
                        attach);
            case ExecutionRequest.Command command ->
                new Verb.Command(
                        id.number(),
                        command.command(),
                        command.args(),
                        absolute(command.cwd()),
                        command.envs(),
                        Blob.utf8(command.stdin()),
                        command.limits().timeout(),
                        attach,
                        command.isShellLine());
            case ExecutionRequest.Install install ->
                new Verb.Install(
                        id.number(),
                        install.language(),
                        install.packages(),
                        install.limits().timeout(),
                        attach);
        };
    }

    private static String absolute(String cwd) {
        boolean whole = cwd.isEmpty() || cwd.startsWith("/") || cwd.equals("~") || cwd.startsWith("~/");
        return whole ? cwd : WORKSPACE + cwd;
    }
}
