package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the gateway creates is what the chart's policy accepts, and no more than its bound. */
class OnDemandNamespacesTest {

    private static final Caller CALLER = new Caller("alice", List.of("*"));

    /** For what is awaited in vain. */
    private static final Duration LITTLE = Duration.ofSeconds(1);

    @RegisterExtension
    final MockApi server = new MockApi();

    private Map<String, String> known() {
        return LabelledNamespaces.byTenant(all(), null);
    }

    private List<Namespace> all() {
        return server.client().namespaces().list().getItems();
    }

    private @Nullable String make(KubernetesClient client, String tenant, int most) {
        try (var news = new OnDemandNamespaces(client, this::known, most)) {
            return news.make(CALLER, tenant).block(Duration.ofSeconds(20));
        }
    }

    @Test
    void aNamespaceHasTheLabelsOfATenantAndNothingElse() {
        String mapped = new SandboxName("Research_1").resourceName();

        assertThat(make(server.client(), "research", 5)).isEqualTo("sandglass-tenant-research");
        assertThat(make(server.client(), "Research_1", 5)).isEqualTo("sandglass-tenant-" + mapped);

        assertThat(all()).hasSize(2).allSatisfy(made -> {
            assertThat(made.getMetadata().getLabels())
                    .containsOnlyKeys(
                            SandboxLabels.TENANT,
                            SandboxLabels.MANAGED_BY,
                            "pod-security.kubernetes.io/enforce",
                            "pod-security.kubernetes.io/enforce-version")
                    .containsEntry("pod-security.kubernetes.io/enforce", "restricted")
                    .containsEntry("pod-security.kubernetes.io/enforce-version", "latest")
                    .containsEntry(SandboxLabels.MANAGED_BY, "sandglass-gateway");
            assertThat(made.getMetadata().getAnnotations()).isNullOrEmpty();
        });
        assertThat(known()).containsKeys("research", "Research_1");
    }

    @Test
    void oneThatAnotherReplicaMadeIsTaken() {
        server.client()
                .resource(namespace("sandglass-tenant-research", "research"))
                .create();

        assertThat(make(server.client(), "research", 5)).isEqualTo("sandglass-tenant-research");
        assertThat(all()).hasSize(1);
    }

    @Test
    void aNamespaceOfThatNameThatIsAnothersIsNotTaken() {
        server.client()
                .resource(namespace("sandglass-tenant-research", "other"))
                .create();

        try (var news = new OnDemandNamespaces(server.client(), this::known, 5, LITTLE)) {
            assertThatThrownBy(() -> news.make(CALLER, "research").block(Duration.ofSeconds(20)))
                    .isInstanceOf(SandboxProblem.Refused.class)
                    .hasMessageStartingWith(
                            "Namespace 'research' does not exist and was not made: the cluster's namespace"
                                    + " 'sandglass-tenant-research' is not there for it yet, or is another's");
        }
    }

    @Test
    void thereAreNoMoreThanTheBoundOfThoseThatWereMadeHere() {
        server.client().resource(namespace("by-hand", "by-hand")).create();
        make(server.client(), "one", 1);

        assertThatThrownBy(() -> make(server.client(), "two", 1))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("'two' does not exist and was not made: there are 1 made on demand already")
                .hasMessageContaining("(tenantsOnDemand of the chart)");
        assertThat(all()).hasSize(2);
    }

    @Test
    void callsAtTheSameTimeKeepToTheBound() {
        var results = new ArrayList<String>();
        try (var news = new OnDemandNamespaces(server.client(), this::known, 2)) {
            List<Mono<String>> starts = IntStream.range(0, 8)
                    .mapToObj(number -> news.make(CALLER, "team" + number)
                            .onErrorResume(SandboxProblem.Refused.class, refused -> Mono.just(refused.fact())))
                    .toList();
            Flux.merge(starts).doOnNext(results::add).blockLast(Duration.ofSeconds(20));
        }

        assertThat(all()).hasSize(2);
        assertThat(results)
                .filteredOn(result -> result.contains("there are 2 made on demand already"))
                .hasSize(6);
        assertThat(results)
                .filteredOn(result -> result.startsWith("sandglass-tenant-"))
                .hasSize(2);
    }

    @Test
    void twoStartsInOneTenantTakeOnePlace() {
        try (var news = new OnDemandNamespaces(server.client(), this::known, 1)) {
            assertThat(Flux.merge(news.make(CALLER, "team"), news.make(CALLER, "team"))
                            .collectList()
                            .block(Duration.ofSeconds(20)))
                    .containsOnly("sandglass-tenant-team")
                    .hasSize(2);
        }
    }

    @Test
    void whatAnotherReplicaMadeJustNowCounts() {
        make(server.client(), "one", 1);

        try (var behind = new OnDemandNamespaces(server.client(), Map::of, 1)) {
            assertThatThrownBy(() -> behind.make(CALLER, "two").block(Duration.ofSeconds(20)))
                    .isInstanceOf(SandboxProblem.Refused.class)
                    .hasMessageContaining("there are 1 made on demand already");
        }
        assertThat(all()).hasSize(1);
    }

    /** One that was not made leaves its place to the next. */
    @Tag("slow")
    @Test
    void aRefusalGivesThePlaceBack() {
        server.client().resource(namespace("sandglass-tenant-taken", "other")).create();
        try (var news = new OnDemandNamespaces(
                server.client(),
                () -> known().entrySet().stream()
                        .filter(each -> !each.getKey().equals("other"))
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
                1,
                LITTLE)) {
            assertThatThrownBy(() -> news.make(CALLER, "taken").block(Duration.ofSeconds(20)))
                    .hasMessageContaining("or is another's");
            // On the thread on which it was told: the place must be free by then.
            assertThat(news.make(CALLER, "taken")
                            .onErrorResume(_ -> news.make(CALLER, "next"))
                            .block(Duration.ofSeconds(20)))
                    .isEqualTo("sandglass-tenant-next");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a123456789b123456789c123456789d123456789e123456", "ends-", "ends_"})
    void whatNoLabelOrNameCanBeIsRefused(String tenant) {
        assertThatThrownBy(() -> make(server.client(), tenant, 5))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("a new one has at most 46 characters, the last a letter or digit");
        assertThat(all()).isEmpty();
    }

    @Test
    void theLongestNameIsTaken() {
        String longest = "a123456789b123456789c123456789d123456789e12345";

        assertThat(make(server.client(), longest, 5)).hasSize(63);
    }

    private static Namespace namespace(String name, String tenant) {
        return new NamespaceBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels(SandboxLabels.TENANT, tenant)
                .endMetadata()
                .build();
    }
}
