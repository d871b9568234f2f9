package dev.sandglass.operator;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.child.ChildMetadata;
import dev.sandglass.operator.child.NamespaceAccess;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SandboxNetworkPolicy;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.ToolServerCheck;
import dev.sandglass.operator.child.WorkspaceClaim;
import dev.sandglass.operator.lifecycle.Deadlines;
import dev.sandglass.operator.lifecycle.Decision;
import dev.sandglass.operator.lifecycle.Lifecycle;
import dev.sandglass.operator.lifecycle.Loss;
import dev.sandglass.operator.lifecycle.Observed;
import dev.sandglass.operator.lifecycle.StatusReport;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.pod.PodSubject;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.EventList;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A golden folder's input, run through the pure parts in the order in which the reconciler does. */
record Situation(OperatorSettings settings, Observed seen, Optional<Refused> answer, Set<String> filesRead)
        implements GoldenTest.Golden {

    static final LinkSecret LINK_SECRET =
            new LinkSecret("a link secret for golden tests only".getBytes(StandardCharsets.US_ASCII));

    static final EgressSecret EGRESS_SECRET =
            new EgressSecret("an egress secret for golden tests only".getBytes(StandardCharsets.US_ASCII));

    static final String PROXY_ADDRESS = "192.0.2.128";

    private static final List<ClosedAddress> GATEWAY = List.of(
            new ClosedAddress("192.0.2.129", 8080, Set.of(8080)),
            new ClosedAddress("2001:db8::129", 8080, Set.of(8080)));

    static final Map<String, String> SETTINGS = Map.of(
            "OPERATOR_NAMESPACES", "tenant-a",
            "OPERATOR_DEFAULT_IMAGE", "registry.example.com/sandglass/kernel:1",
            "OPERATOR_LINK_SECRET_FILE", "unused",
            "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system");

    /**
     * What the API server answers when a pod is made, or what comes before it; absent for success.
     *
     * @param toPolicies whether it says so of the policies
     */
    private record Answer(String reason, String message, boolean toPolicies) {}

    /** An answer as the operator takes it. */
    record Refused(PodRefusal refusal, boolean toPolicies) {}

    static Situation read(Path folder) throws IOException {
        Set<String> used = new TreeSet<>();
        Map<String, String> variables = new HashMap<>(SETTINGS);
        Instant now = Instant.parse("2026-03-01T10:00:00Z");
        Map<?, ?> given = read(folder, "in-settings.yaml", Map.class, used).orElse(Map.of());
        for (Map.Entry<?, ?> entry : given.entrySet()) {
            if (entry.getKey().equals("now")) {
                now = Instant.parse(entry.getValue().toString());
            } else {
                variables.put(entry.getKey().toString(), entry.getValue().toString());
            }
        }
        OperatorSettings settings = OperatorSettings.of(variables);
        Sandbox sandbox = read(folder, "in-Sandbox.yaml", Sandbox.class, used).orElseThrow();
        ToolServerCheck ofToolServer =
                ToolServerCheck.of(sandbox, read(folder, "in-SandboxToolServer.yaml", SandboxToolServer.class, used));
        Observed seen = new Observed(
                sandbox,
                read(folder, "in-Pod.yaml", Pod.class, used),
                read(folder, "in-Lease.yaml", Lease.class, used),
                ofToolServer.refusal().or(() -> PodRefusal.of(sandbox, settings.pods())),
                read(folder, "in-PersistentVolumeClaim.yaml", PersistentVolumeClaim.class, used),
                Egress.ignored(sandbox, settings.pods().egress()),
                Optional.empty(),
                ofToolServer.secrets(),
                sandbox.getStatus() != null,
                now);
        Optional<Observed> heldUp = read(folder, "in-Events.yaml", EventList.class, used)
                .map(events -> seen.withBlocker(Optional.of(events.getItems())));
        Optional<Refused> answer = read(folder, "in-answer.yaml", Answer.class, used)
                .map(words -> new Refused(
                        new PodRefusal(Reason.of(words.reason()).orElseThrow(), words.message()), words.toPolicies()));
        return new Situation(settings, heldUp.orElse(seen), answer, used);
    }

    private static <T> Optional<T> read(Path folder, String name, Class<T> type, Set<String> used) throws IOException {
        Path file = folder.resolve(name);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        used.add(name);
        return Optional.of(Serialization.unmarshal(Files.readString(file), type));
    }

    /** What comes of it, by file name. */
    @Override
    public Map<String, String> results() {
        Deadlines deadlines = settings.deadlines().of(seen.sandbox().wanted());
        Decision decision = Lifecycle.decide(seen, deadlines);
        Optional<String> lost = Loss.of(seen, decision);
        Map<String, String> results = new LinkedHashMap<>();
        Observed after =
                switch (decision) {
                    case Decision.Run run -> started(run.incarnation(), lost, results);
                    case Decision.Replace replace -> started(replace.incarnation(), lost, results);
                    case Decision.Resume resume -> started(resume.incarnation(), lost, results);
                    case Decision.Suspend suspend -> seen.after(Optional.empty(), seen.refusal(), seen.networkReady());
                    case Decision.Sleep sleep -> seen;
                    case Decision.Keep keep -> seen;
                    case Decision.Wait wait -> seen;
                    case Decision.Delete delete -> seen;
                    case Decision.Leave leave -> seen;
                };
        results.put(
                "out-status.yaml",
                "# " + decision + "\n" + Serialization.asYaml(StatusReport.of(after, decision, lost, deadlines)));
        return results;
    }

    private NetworkProbe probe() {
        List<ClosedAddress> addresses = new ArrayList<>();
        settings.probe().apiServer().ifPresent(addresses::add);
        settings.probe().gatewayService().ifPresent(name -> addresses.addAll(GATEWAY));
        return new NetworkProbe(addresses, settings.probe().required());
    }

    private NetworkPolicy access() {
        return NamespaceAccess.desired(
                seen.sandbox().getMetadata().getNamespace(),
                settings.gatewayNamespace(),
                settings.pods().egress());
    }

    private Observed started(int incarnation, Optional<String> lost, Map<String, String> results) {
        Sandbox sandbox = seen.sandbox();
        if (seen.livePod()
                .filter(pod -> Observed.incarnationOf(pod) == incarnation)
                .isPresent()) {
            return seen.after(seen.pod(), seen.refusal(), true);
        }
        if (answer.filter(Refused::toPolicies).isPresent()) {
            return seen.after(Optional.empty(), answer.map(Refused::refusal), false);
        }
        Workspace workspace = sandbox.wanted().workspace();
        if (workspace != null && seen.workspace().isEmpty()) {
            results.put(
                    "out-PersistentVolumeClaim.yaml",
                    Serialization.asYaml(WorkspaceClaim.desired(
                            sandbox, workspace, settings.pods().users())));
        }
        PodSubject subject = SandboxPod.subject(sandbox, incarnation);
        Optional<ProxyAccess> proxy =
                settings.egress().map(egress -> ProxyAccess.of(subject.id(), PROXY_ADDRESS, EGRESS_SECRET));
        Pod first = seen.secrets()
                .mountedIn(SandboxPod.desired(sandbox, incarnation, settings.pods(), seen.workspace(), proxy, probe()));
        Pod pod = lost.map(why -> SandboxContainer.after(first, why)).orElse(first);
        LinkKeys keys = subject.linkKeys(LINK_SECRET);
        results.put(
                "out-Secret.yaml",
                Serialization.asYaml(
                        PodSecret.desired(ChildMetadata.ofIncarnation(sandbox, incarnation), keys, proxy)));
        NetworkPolicy own = SandboxNetworkPolicy.desired(
                sandbox, settings.gatewayNamespace(), settings.pods().egress());
        if (!NamespaceAccess.grants(access(), own)) {
            results.put("out-NetworkPolicy.yaml", Serialization.asYaml(own));
        }
        results.put("out-Pod.yaml", Serialization.asYaml(pod));
        return answer.map(refused -> seen.after(Optional.empty(), Optional.of(refused.refusal()), true))
                .orElseGet(() -> seen.after(Optional.of(pod), seen.refusal(), true));
    }
}
