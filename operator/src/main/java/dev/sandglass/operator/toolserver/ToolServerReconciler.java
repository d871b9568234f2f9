package dev.sandglass.operator.toolserver;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.metrics.SandboxMeters;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.toolserver.ToolServerDecision.Refusal;
import dev.sandglass.operator.watch.ToolServerWatches;
import dev.sandglass.operator.write.ApiErrors;
import dev.sandglass.operator.write.SandboxEvents;
import dev.sandglass.operator.write.ToolServerWriter;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.PrimaryUpdateAndCacheUtils;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Keeps one Sandbox for each tool server, and reports of it. What happens to the Sandbox's pod is the matter of the
 * reconciler of sandboxes.
 */
public final class ToolServerReconciler implements Reconciler<SandboxToolServer> {

    /** The Sandbox in the way has no label of ours, so no watch tells of its end. */
    static final Duration LOOK_FOR_THE_NAME = Duration.ofMinutes(1);

    /** What refused the Sandbox may have been changed: a list of images, a quota. */
    static final Duration ASK_AGAIN = Duration.ofMinutes(5);

    private static final Logger LOG = LoggerFactory.getLogger(ToolServerReconciler.class);

    private final ToolServerWriter writer;
    private final TenantNamespaces tenants;
    private final SandboxEvents events;
    private final SandboxMeters meters;
    private final InstantSource clock;

    public ToolServerReconciler(
            ToolServerWriter writer,
            TenantNamespaces tenants,
            SandboxEvents events,
            SandboxMeters meters,
            InstantSource clock) {
        this.writer = writer;
        this.tenants = tenants;
        this.events = events;
        this.meters = meters;
        this.clock = clock;
    }

    /** What became of a decision. */
    private record Outcome(Optional<Sandbox> child, Optional<Refusal> refusal) {}

    @Override
    public List<EventSource<?, SandboxToolServer>> prepareEventSources(EventSourceContext<SandboxToolServer> context) {
        meters.toolServers(() -> context.getPrimaryCache().list());
        return ToolServerWatches.sources(tenants, context);
    }

    @Override
    public UpdateControl<SandboxToolServer> reconcile(SandboxToolServer server, Context<SandboxToolServer> context) {
        UpdateControl<SandboxToolServer> done = UpdateControl.noUpdate();
        if (!ToolServerWatches.isOurs(server, tenants, context)) {
            return done;
        }
        ToolServerDecision decision = ToolServerDecision.of(server, ToolServerWatches.child(server, context));
        log(server, decision);
        if (decision instanceof ToolServerDecision.Leave) {
            return done;
        }
        Outcome outcome = act(server, decision, context);
        Instant now = clock.instant();
        publish(ToolServerReport.of(server, outcome.child(), outcome.refusal(), now), server, context, now);
        outcome.refusal()
                .map(Refusal::reason)
                .flatMap(ToolServerReconciler::review)
                .ifPresent(done::rescheduleAfter);
        return done;
    }

    private static Optional<Duration> review(ToolServerReason reason) {
        return switch (reason) {
            case NAME_TAKEN -> Optional.of(LOOK_FOR_THE_NAME);
            case SANDBOX_REFUSED -> Optional.of(ASK_AGAIN);
            case SANDBOX_MADE, INVALID_SPEC, VERIFIED, ENDPOINT_UNAVAILABLE, NOT_VERIFIED, OPERATOR_ERROR ->
                Optional.empty();
        };
    }

    private Outcome act(SandboxToolServer server, ToolServerDecision decision, Context<SandboxToolServer> context) {
        return switch (decision) {
            case ToolServerDecision.Make make -> {
                ToolServerWriter.Result result = writer.make(make.desired());
                written(result).ifPresent(made -> ToolServerWatches.rememberNew(made, context));
                yield outcome(server, result);
            }
            case ToolServerDecision.Mend mend -> {
                ToolServerWriter.Result result = writer.mend(mend.mended(), mend.present());
                written(result).ifPresent(now -> ToolServerWatches.remember(now, mend.present(), context));
                yield outcome(server, result);
            }
            case ToolServerDecision.Keep keep -> new Outcome(Optional.of(keep.child()), Optional.empty());
            case ToolServerDecision.Await await -> new Outcome(Optional.of(await.leaving()), Optional.empty());
            case ToolServerDecision.Reject reject -> new Outcome(reject.child(), Optional.of(reject.refusal()));
            case ToolServerDecision.Leave leave -> new Outcome(Optional.empty(), Optional.empty());
        };
    }

    /** What is only found must not come into the cache: it may be gone by now, and no watch would tell. */
    private static Optional<Sandbox> written(ToolServerWriter.Result result) {
        return result.sandbox().filter(sandbox -> result.written());
    }

    /** A name may turn out to be taken by what the watch does not show: a Sandbox without our label. */
    private static Outcome outcome(SandboxToolServer server, ToolServerWriter.Result result) {
        Optional<Sandbox> child = result.sandbox().filter(found -> ToolServerChild.belongsTo(server, found));
        if (result.refusal().isPresent()) {
            return new Outcome(
                    child,
                    result.refusal()
                            .map(why -> new Refusal(
                                    ToolServerReason.SANDBOX_REFUSED,
                                    "The API server refused the Sandbox of the server: " + why)));
        }
        ToolServerDecision again = ToolServerDecision.of(server, result.sandbox());
        return again instanceof ToolServerDecision.Reject rejected
                ? new Outcome(rejected.child(), Optional.of(rejected.refusal()))
                : new Outcome(child, Optional.empty());
    }

    /** Replaces the status if it says anything new. */
    private void publish(
            SandboxToolServerStatus status, SandboxToolServer server, Context<SandboxToolServer> context, Instant now) {
        SandboxToolServerStatus former = server.observed();
        if (status.equals(former)) {
            return;
        }
        try {
            PrimaryUpdateAndCacheUtils.updateStatusAndCacheResource(server, context, latest -> {
                latest.setStatus(status);
                return latest;
            });
            ToolServerReport.notice(former, status).ifPresent(notice -> events.tell(server, 0, notice, now));
        } catch (KubernetesClientException e) {
            if (e.getCode() != 404) {
                throw e;
            }
            about(server, LOG.atDebug()).log("Tool server is gone");
        }
    }

    @Override
    public ErrorStatusUpdateControl<SandboxToolServer> updateErrorStatus(
            SandboxToolServer server, Context<SandboxToolServer> context, Exception failure) {
        meters.failed();
        String message = "The operator failed and tries again: " + ApiErrors.briefly(failure);
        Instant now = clock.instant();
        publish(ToolServerReport.failed(server, message, now), server, context, now);
        return ErrorStatusUpdateControl.noStatusUpdate();
    }

    private static void log(SandboxToolServer server, ToolServerDecision decision) {
        boolean quiet = decision instanceof ToolServerDecision.Keep || decision instanceof ToolServerDecision.Leave;
        about(server, LOG.atLevel(quiet ? Level.DEBUG : Level.INFO))
                .addKeyValue("decision", decision.getClass().getSimpleName())
                .log("Decided");
    }

    private static LoggingEventBuilder about(SandboxToolServer server, LoggingEventBuilder line) {
        return line.addKeyValue("sandboxtoolserver", server.getMetadata().getName())
                .addKeyValue("namespace", server.getMetadata().getNamespace())
                .addKeyValue("uid", server.getMetadata().getUid());
    }
}
