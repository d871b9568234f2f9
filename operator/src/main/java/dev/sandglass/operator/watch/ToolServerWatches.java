package dev.sandglass.operator.watch;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.settings.TenantNamespaces;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What the operator watches for tool servers: their Sandboxes, and which namespaces are tenants'. */
public final class ToolServerWatches {

    private ToolServerWatches() {}

    /** What is watched besides the tool servers. */
    public static List<EventSource<?, SandboxToolServer>> sources(
            TenantNamespaces tenants, EventSourceContext<SandboxToolServer> context) {
        List<EventSource<?, SandboxToolServer>> sources = new ArrayList<>(List.of(children(context)));
        if (tenants.byLabel()) {
            sources.add(namespaces(context));
        }
        return sources;
    }

    /** By label, so that the sandboxes of callers are not cached twice. */
    private static InformerEventSource<Sandbox, SandboxToolServer> children(
            EventSourceContext<SandboxToolServer> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Sandbox.class, SandboxToolServer.class)
                        .withLabelSelector(SandboxLabels.TOOL_SERVER)
                        .withInformerListLimit(SandboxWatches.PAGE)
                        .withSecondaryToPrimaryMapper(child -> Set.of(new ResourceID(
                                child.getMetadata().getLabels().get(SandboxLabels.TOOL_SERVER),
                                child.getMetadata().getNamespace())))
                        .build(),
                context);
    }

    /** A namespace that becomes a tenant's, or ceases to be, concerns every tool server in it. */
    private static InformerEventSource<Namespace, SandboxToolServer> namespaces(
            EventSourceContext<SandboxToolServer> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Namespace.class, SandboxToolServer.class)
                        .withLabelSelector(SandboxLabels.TENANT)
                        .withInformerListLimit(SandboxWatches.PAGE)
                        .withSecondaryToPrimaryMapper(namespace -> context.getPrimaryCache()
                                .list(namespace.getMetadata().getName())
                                .map(ResourceID::fromResource)
                                .collect(Collectors.toSet()))
                        .build(),
                context);
    }

    /** Whether the installation looks after the namespace of a tool server. */
    public static boolean isOurs(
            SandboxToolServer server, TenantNamespaces tenants, Context<SandboxToolServer> context) {
        return tenants.has(server.getMetadata().getNamespace(), namespace -> informer(Namespace.class, context)
                .get(new ResourceID(namespace))
                .isPresent());
    }

    /** The Sandbox with the label and the name of a tool server's. */
    public static Optional<Sandbox> child(SandboxToolServer server, Context<SandboxToolServer> context) {
        return informer(Sandbox.class, context)
                .get(new ResourceID(
                        SandboxToolServer.childName(server.getMetadata().getName()),
                        server.getMetadata().getNamespace()));
    }

    /** Puts a new Sandbox into the cache, so that the next round does not miss it. */
    public static void rememberNew(Sandbox made, Context<SandboxToolServer> context) {
        informer(Sandbox.class, context).handleRecentResourceCreate(ResourceID.fromResource(made), made);
    }

    /** Puts a changed Sandbox into the cache. */
    public static void remember(Sandbox written, Sandbox before, Context<SandboxToolServer> context) {
        informer(Sandbox.class, context).handleRecentResourceUpdate(ResourceID.fromResource(written), written, before);
    }

    private static <R extends HasMetadata> InformerEventSource<R, SandboxToolServer> informer(
            Class<R> type, Context<SandboxToolServer> context) {
        return (InformerEventSource<R, SandboxToolServer>)
                context.eventSourceRetriever().getEventSourceFor(type);
    }
}
