package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.StdioServer;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The Sandbox in whose pod the MCP server of a {@link SandboxToolServer} runs. */
public final class ToolServerChild {

    private static final String KIND = "SandboxToolServer";

    private ToolServerChild() {}

    /** The Sandbox as it has to be. */
    public static Sandbox desired(SandboxToolServer server) {
        Sandbox sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(SandboxToolServer.childName(server.getMetadata().getName()))
                .withNamespace(server.getMetadata().getNamespace())
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .addToLabels(SandboxLabels.TOOL_SERVER, server.getMetadata().getName())
                .withOwnerReferences(ChildMetadata.owner(server))
                .build());
        sandbox.setSpec(spec(server.getSpec()));
        return sandbox;
    }

    private static SandboxSpec spec(SandboxToolServerSpec wanted) {
        String image =
                Optional.ofNullable(wanted.stdio()).map(StdioServer::image).orElse(null);
        return new SandboxSpec(image, wanted.memory(), wanted.cpus(), null, null, false)
                .withAllowedDomains(domains(wanted))
                .withIdleTimeout(wanted.idleTimeout());
    }

    /** Null for the installation's list. A server over HTTP reaches its URL's host, and what it lists besides. */
    private static @Nullable List<String> domains(SandboxToolServerSpec wanted) {
        HttpServer http = wanted.http();
        if (http == null) {
            return wanted.allowedDomains();
        }
        List<String> all =
                new ArrayList<>(Optional.ofNullable(wanted.allowedDomains()).orElse(List.of()));
        String implied = http.domain().toString();
        if (!all.contains(implied)) {
            all.add(implied);
        }
        return all;
    }

    /** What is wrong with a spec that the schema let through, in a sentence for its author; empty if nothing is. */
    public static Optional<String> problem(SandboxToolServerSpec wanted) {
        Optional<String> list = Optional.ofNullable(wanted.allowedDomains())
                .flatMap(EgressRules::problem)
                .map(problem -> "spec." + problem);
        return list.or(() -> Optional.ofNullable(wanted.http()).flatMap(ToolServerChild::problem))
                .or(() -> secretProblem(wanted));
    }

    private static Optional<String> secretProblem(SandboxToolServerSpec wanted) {
        Stream<Optional<String>> ofVariables = Optional.ofNullable(wanted.stdio()).stream()
                .flatMap(stdio -> stdio.environmentSecrets().entrySet().stream())
                .map(entry -> closed("stdio.env[" + entry.getKey() + "]", entry.getValue()));
        Stream<Optional<String>> ofHeaders = Optional.ofNullable(wanted.http()).stream()
                .flatMap(http -> http.headerSecrets().entrySet().stream())
                .map(entry -> closed("http.headers[" + entry.getKey() + "]", entry.getValue()));
        return Stream.concat(ofVariables, ofHeaders)
                .flatMap(Optional::stream)
                .findFirst()
                .or(() -> tooManySecrets(wanted));
    }

    private static Optional<String> closed(String field, SecretKeyRef entry) {
        return entry.isOpen()
                ? Optional.empty()
                : Optional.of("spec." + field + ".valueFrom.secretKeyRef: only an entry of a Secret whose name begins"
                        + " with " + SecretKeyRef.PREFIX + " may be used; create the Secret under such a name, and"
                        + " the entry with a key of letters, digits and -_.");
    }

    private static Optional<String> tooManySecrets(SandboxToolServerSpec wanted) {
        int secrets = wanted.secretKeys().size();
        return secrets <= SandboxToolServerSpec.MAX_SECRETS
                ? Optional.empty()
                : Optional.of("spec: at most " + SandboxToolServerSpec.MAX_SECRETS + " Secrets may be used, not "
                        + secrets + "; put several entries into one Secret");
    }

    private static Optional<String> problem(HttpServer http) {
        try {
            http.domain();
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of("spec.http.url: " + e.getMessage());
        }
    }

    /** The Sandbox that is there, with the spec as it has to be; other authors' labels and annotations stay. */
    public static Sandbox mended(SandboxToolServer server, Sandbox present) {
        Sandbox mended = new Sandbox();
        mended.setMetadata(new ObjectMetaBuilder(present.getMetadata()).build());
        mended.setSpec(spec(server.getSpec()));
        return mended;
    }

    /** Whether a Sandbox has the spec that it has to have. */
    public static boolean isAsWanted(SandboxToolServer server, Sandbox present) {
        return present.wanted().equals(spec(server.getSpec()));
    }

    /**
     * Whether a Sandbox is the child of that very resource: by its label, which only the operator can set, and by its
     * owner, with which it is deleted.
     */
    public static boolean belongsTo(SandboxToolServer server, Sandbox sandbox) {
        String uid = server.getMetadata().getUid();
        return server.getMetadata().getName().equals(toolServer(sandbox))
                && controller(sandbox)
                        .filter(owner -> owner.getUid().equals(uid))
                        .isPresent();
    }

    /** Whether a Sandbox is the child of some tool server. */
    public static boolean isOne(Sandbox sandbox) {
        String name = toolServer(sandbox);
        return name != null
                && controller(sandbox)
                        .filter(owner -> owner.getKind().equals(KIND)
                                && owner.getApiVersion().startsWith(Sandbox.GROUP + "/")
                                && owner.getName().equals(name))
                        .isPresent();
    }

    /** Name of the tool server whose label a Sandbox has; empty for one of another kind. */
    public static Optional<String> server(Sandbox sandbox) {
        return Optional.ofNullable(toolServer(sandbox));
    }

    private static @Nullable String toolServer(Sandbox sandbox) {
        Map<String, String> labels = sandbox.getMetadata().getLabels();
        return labels == null ? null : labels.get(SandboxLabels.TOOL_SERVER);
    }

    private static Optional<OwnerReference> controller(Sandbox sandbox) {
        return sandbox.getMetadata().getOwnerReferences().stream()
                .filter(owner -> Boolean.TRUE.equals(owner.getController()))
                .findFirst();
    }
}
