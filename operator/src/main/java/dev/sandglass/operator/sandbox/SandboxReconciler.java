package dev.sandglass.operator.sandbox;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.WorkspaceClaim;
import dev.sandglass.operator.lifecycle.Claim;
import dev.sandglass.operator.lifecycle.Conditions;
import dev.sandglass.operator.lifecycle.Deadlines;
import dev.sandglass.operator.lifecycle.Decision;
import dev.sandglass.operator.lifecycle.Lifecycle;
import dev.sandglass.operator.lifecycle.Loss;
import dev.sandglass.operator.lifecycle.Notice;
import dev.sandglass.operator.lifecycle.Observed;
import dev.sandglass.operator.lifecycle.Review;
import dev.sandglass.operator.lifecycle.StatusReport;
import dev.sandglass.operator.metrics.SandboxMeters;
import dev.sandglass.operator.watch.SandboxWatches;
import dev.sandglass.operator.write.ApiErrors;
import dev.sandglass.operator.write.ChildWriter;
import dev.sandglass.operator.write.SandboxEvents;
import dev.sandglass.operator.write.Storage;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
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
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/** Looks, decides, acts and reports, for one sandbox at a time. It keeps nothing between two rounds but measures. */
public final class SandboxReconciler implements Reconciler<Sandbox> {

    private static final Logger LOG = LoggerFactory.getLogger(SandboxReconciler.class);

    private final SandboxView view;
    private final WarmStarts warmStarts;
    private final ChildWriter children;
    private final Storage storage;
    private final Deadlines deadlines;
    private final SandboxEvents events;
    private final SandboxMeters meters;

    public SandboxReconciler(
            SandboxView view,
            WarmStarts warmStarts,
            ChildWriter children,
            Storage storage,
            Deadlines deadlines,
            SandboxEvents events,
            SandboxMeters meters) {
        this.view = view;
        this.warmStarts = warmStarts;
        this.children = children;
        this.storage = storage;
        this.deadlines = deadlines;
        this.events = events;
        this.meters = meters;
    }

    @Override
    public List<EventSource<?, Sandbox>> prepareEventSources(EventSourceContext<Sandbox> context) {
        meters.census(() -> context.getPrimaryCache().list());
        return view.sources(context);
    }

    @Override
    public UpdateControl<Sandbox> reconcile(Sandbox sandbox, Context<Sandbox> context) {
        if (context.isPrimaryResourceDeleted()) {
            int incarnation =
                    Optional.ofNullable(sandbox.observed().incarnation()).orElse(0);
            view.orphan(sandbox, context).ifPresent(pod -> children.end(sandbox, incarnation, Optional.of(pod)));
            return UpdateControl.noUpdate();
        }
        return view.observe(sandbox, context)
                .map(seen -> reconcile(seen, context))
                .orElseGet(UpdateControl::noUpdate);
    }

    private UpdateControl<Sandbox> reconcile(Observed seen, Context<Sandbox> context) {
        Sandbox sandbox = seen.sandbox();
        long begun = meters.starts().now();
        Deadlines own = deadlines.of(sandbox.wanted());
        Decision decision = Lifecycle.decide(seen, own);
        log(sandbox, decision);
        view.strays(seen, context).forEach(stray -> {
            about(sandbox, LOG.atInfo())
                    .addKeyValue("pod", stray.getMetadata().getName())
                    .log("A second pod of the sandbox ends");
            children.endStray(stray);
        });
        Optional<String> lost = Loss.of(seen, decision);
        Observed after = act(decision, tended(seen, context), lost, context);
        SandboxStatus status = StatusReport.of(after, decision, lost, own);
        meters.starts().acted(begun, seen, after, status);
        Optional<Instant> untold = StatusReport.mayWait(after, status);
        if (untold.isEmpty()) {
            publish(status, after, context);
            meters.starts().told(sandbox, status);
        }
        UpdateControl<Sandbox> done = UpdateControl.noUpdate();
        Stream.of(untold, Review.of(after, decision, status, own))
                .flatMap(Optional::stream)
                .min(Comparator.naturalOrder())
                .map(at -> Duration.between(seen.now(), at))
                .ifPresent(delay -> done.rescheduleAfter(delay.isPositive() ? delay : Duration.ofMillis(1)));
        return done;
    }

    private Observed act(Decision decision, Observed seen, Optional<String> lost, Context<Sandbox> context) {
        return switch (decision) {
            case Decision.Run run -> run(run.incarnation(), lost, seen, context);
            case Decision.Resume resume -> restart(resume.former(), resume.incarnation(), lost, seen, context);
            case Decision.Replace replace -> restart(replace.former(), replace.incarnation(), lost, seen, context);
            case Decision.Suspend suspend -> {
                children.end(seen.sandbox(), suspend.incarnation(), seen.livePod());
                yield seen.after(Optional.empty(), seen.refusal(), seen.networkReady());
            }
            case Decision.Delete delete -> {
                children.delete(seen.sandbox());
                yield seen;
            }
            case Decision.Sleep sleep -> seen;
            case Decision.Keep keep -> seen;
            case Decision.Wait wait -> seen;
            case Decision.Leave leave -> seen;
        };
    }

    private Observed restart(
            int former, int incarnation, Optional<String> lost, Observed seen, Context<Sandbox> context) {
        Optional<Pod> old = seen.livePod().filter(pod -> Observed.incarnationOf(pod) <= former);
        children.end(seen.sandbox(), former, old);
        return run(incarnation, lost, seen, context);
    }

    private Observed run(int incarnation, Optional<String> lost, Observed seen, Context<Sandbox> context) {
        Sandbox sandbox = seen.sandbox();
        try {
            prepare(sandbox, context);
        } catch (KubernetesClientException e) {
            if (seen.livePod().isPresent() || !ApiErrors.isQuota(e)) {
                throw e;
            }
            PodRefusal full = new PodRefusal(Reason.QUOTA_EXCEEDED, ApiErrors.of(e));
            return seen.after(Optional.empty(), Optional.of(full), view.networkReady(sandbox, context));
        }
        // Not what the cache says of all policies: it may not have those yet that were made this moment.
        Optional<PodRefusal> open = view.namespacePolicy(context).flatMap(NamespacePolicy::problem);
        Optional<Pod> running = seen.livePod().filter(pod -> Observed.incarnationOf(pod) == incarnation);
        if (running.isPresent()) {
            running.filter(Observed::lacksKeys).ifPresent(pod -> children.giveKeys(sandbox, incarnation, pod));
            return seen.after(running.map(pod -> kept(pod, sandbox, context)), seen.refusal(), open.isEmpty());
        }
        Optional<PodRefusal> missing = open.or(() -> storage.missing(sandbox, seen.secrets()));
        if (missing.isPresent()) {
            return seen.after(Optional.empty(), missing, open.isEmpty());
        }
        Observed stored = withWorkspace(seen, context);
        if (stored.refusal().isPresent()) {
            return stored.after(Optional.empty(), stored.refusal(), true);
        }
        return started(incarnation, lost, stored, context);
    }

    /** With the seat of a pool, or with a pod of its own. */
    private Observed started(int incarnation, Optional<String> lost, Observed seen, Context<Sandbox> context) {
        Sandbox sandbox = seen.sandbox();
        Pod cold = children.desired(sandbox, incarnation, lost, seen.workspace(), seen.secrets());
        return switch (warmStarts.start(sandbox, incarnation, cold, seen.now(), context)) {
            case WarmStarts.Start.There there -> seen.after(Optional.of(there.pod()), Optional.empty(), true);
            case WarmStarts.Start.Cold(Optional<Claim.Cold> why) -> {
                Pod desired = why.map(cause -> SandboxPod.coldBecause(cold, cause.text()))
                        .orElse(cold);
                ChildWriter.PodResult result = children.start(sandbox, incarnation, desired);
                result.pod().ifPresent(pod -> {
                    SandboxWatches.remember(Pod.class, pod, context);
                    why.ifPresent(warmStarts::missed);
                });
                Optional<PodRefusal> refusal = result.refusal()
                        .map(refused -> warmStarts.afterMakingRoom(refused, sandbox, seen.now(), context));
                yield seen.after(result.pod(), refusal, true);
            }
        };
    }

    /** Makes what a pod needs before it is made. */
    private void prepare(Sandbox sandbox, Context<Sandbox> context) {
        String namespace = sandbox.getMetadata().getNamespace();
        Consumer<NetworkPolicy> remember = policy -> SandboxWatches.remember(NetworkPolicy.class, policy, context);
        Optional<NetworkPolicy> access = view.namespaceAccess(context);
        children.isolateNamespace(namespace, view.namespacePolicy(context)).ifPresent(remember);
        children.open(namespace, access).ifPresent(remember);
        children.isolate(sandbox, view.networkPolicy(sandbox, context), access).ifPresent(remember);
        children.trust(namespace, view.authorities(context))
                .ifPresent(map -> SandboxWatches.remember(ConfigMap.class, map, context));
    }

    /** With the claim that the workspace needs, or with the reason why there is none. */
    private Observed withWorkspace(Observed seen, Context<Sandbox> context) {
        Workspace wanted = seen.sandbox().wanted().workspace();
        if (wanted == null) {
            return seen;
        }
        Storage.ClaimResult result = storage.workspace(seen.sandbox(), wanted, seen.workspace());
        result.claim().ifPresent(claim -> SandboxWatches.remember(PersistentVolumeClaim.class, claim, context));
        return seen.after(seen.pod(), result.refusal(), seen.networkReady()).withWorkspace(result.claim());
    }

    /**
     * Makes the claim what the spec says of it by now, whether or not there is a pod. A claim that was refused to grow is
     * not asked again before the spec changes or a pod is made.
     */
    private Observed tended(Observed seen, Context<Sandbox> context) {
        Sandbox sandbox = seen.sandbox();
        Workspace wanted = sandbox.wanted().workspace();
        Optional<PersistentVolumeClaim> claim = seen.workspace()
                .filter(found -> WorkspaceClaim.problem(sandbox, found).isEmpty());
        if (wanted == null || claim.isEmpty() || sandbox.isMarkedForDeletion()) {
            return seen;
        }
        boolean edited =
                !sandbox.getMetadata().getGeneration().equals(sandbox.observed().observedGeneration());
        PersistentVolumeClaim tied = storage.tied(sandbox, wanted, claim.get());
        PersistentVolumeClaim now = edited ? storage.grown(wanted, tied) : tied;
        if (now.equals(claim.get())) {
            return seen;
        }
        SandboxWatches.remember(PersistentVolumeClaim.class, now, context);
        return seen.withWorkspace(Optional.of(now));
    }

    /** A pod that runs and goes on, with the shorter life that its sandbox may have been given since. */
    private Pod kept(Pod pod, Sandbox sandbox, Context<Sandbox> context) {
        return deadlines
                .of(sandbox.wanted())
                .shortened(pod)
                .flatMap(age -> children.shorten(sandbox, pod, age))
                .map(shorter -> {
                    SandboxWatches.rememberChanged(shorter, pod, context);
                    return shorter;
                })
                .orElse(pod);
    }

    /**
     * Replaces the status if it says anything new. The write carries the version that was read: should the resource have
     * changed meanwhile, it is read again, and the change leads to another round anyway.
     */
    private void publish(SandboxStatus status, Observed seen, Context<Sandbox> context) {
        Sandbox sandbox = seen.sandbox();
        SandboxStatus former = sandbox.observed();
        if (status.equals(former)) {
            return;
        }
        try {
            PrimaryUpdateAndCacheUtils.updateStatusAndCacheResource(sandbox, context, latest -> {
                latest.setStatus(status);
                return latest;
            });
            int incarnation = Optional.ofNullable(status.incarnation()).orElse(0);
            Notice.of(former, status).ifPresent(notice -> events.tell(sandbox, incarnation, notice, seen.now()));
        } catch (KubernetesClientException e) {
            if (e.getCode() != 404) {
                throw e;
            }
            about(sandbox, LOG.atDebug()).log("Sandbox is gone");
        }
    }

    /** A sandbox that runs keeps its Ready: that the operator fails is no harm to it, unless its policies are gone. */
    @Override
    public ErrorStatusUpdateControl<Sandbox> updateErrorStatus(
            Sandbox sandbox, Context<Sandbox> context, Exception failure) {
        meters.failed();
        String message = "The operator failed and tries again: " + ApiErrors.briefly(failure);
        view.observe(sandbox, context)
                .ifPresent(seen ->
                        publish(sandbox.observed().withConditions(Conditions.failed(seen, message)), seen, context));
        return ErrorStatusUpdateControl.noStatusUpdate();
    }

    private static void log(Sandbox sandbox, Decision decision) {
        boolean quiet = decision instanceof Decision.Run || decision instanceof Decision.Sleep;
        about(sandbox, LOG.atLevel(quiet ? Level.DEBUG : Level.INFO))
                .addKeyValue("decision", decision)
                .log("Decided");
    }

    private static LoggingEventBuilder about(Sandbox sandbox, LoggingEventBuilder line) {
        return line.addKeyValue("sandbox", sandbox.getMetadata().getName())
                .addKeyValue("namespace", sandbox.getMetadata().getNamespace())
                .addKeyValue("uid", sandbox.getMetadata().getUid());
    }
}
