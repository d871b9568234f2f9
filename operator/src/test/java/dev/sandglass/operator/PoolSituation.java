package dev.sandglass.operator;

import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.pod.ProxyAccess;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A golden folder's pool, and the seat that is made of it. */
record PoolSituation(OperatorSettings settings, SandboxPool pool, Set<String> filesRead) implements GoldenTest.Golden {

    static final String POOL = "in-SandboxPool.yaml";

    private static final String SETTINGS = "in-settings.yaml";
    private static final String SEAT = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final String POD_UID = "d3f7b4e2-8c75-4b20-9b8f-2ebc9d043f66";

    static PoolSituation read(Path folder) throws IOException {
        Set<String> used = new TreeSet<>(Set.of(POOL));
        Map<String, String> variables = new HashMap<>(Situation.SETTINGS);
        if (Files.exists(folder.resolve(SETTINGS))) {
            used.add(SETTINGS);
            Map<?, ?> given = Serialization.unmarshal(Files.readString(folder.resolve(SETTINGS)), Map.class);
            given.forEach((name, value) -> variables.put(name.toString(), value.toString()));
        }
        return new PoolSituation(
                OperatorSettings.of(variables),
                Serialization.unmarshal(Files.readString(folder.resolve(POOL)), SandboxPool.class),
                used);
    }

    @Override
    public Map<String, String> results() {
        Optional<ProxyAccess> proxy =
                settings.egress().map(egress -> ProxyAccess.of(SEAT, Situation.PROXY_ADDRESS, Situation.EGRESS_SECRET));
        NetworkProbe probe = new NetworkProbe(
                settings.probe().apiServer().map(List::of).orElse(List.of()),
                settings.probe().required());
        String keys = SeatPod.keys(Situation.LINK_SECRET, proxy.map(access -> Situation.EGRESS_SECRET));
        Pod seat = SeatPod.desired(
                pool, SEAT, new SeatPod.Making(settings.pods(), proxy.map(ProxyAccess::address), probe, keys));
        Pod made =
                seat.toBuilder().editMetadata().withUid(POD_UID).endMetadata().build();
        return Map.of(
                "out-Pod.yaml",
                Serialization.asYaml(seat),
                "out-Secret.yaml",
                Serialization.asYaml(PodSecret.desired(
                        SeatPod.ofSecret(made), SeatPod.subject(SEAT).linkKeys(Situation.LINK_SECRET), proxy)));
    }
}
