package dev.sandglass.operator.policy;

import static dev.sandglass.operator.policy.ChartPolicies.granted;
import static dev.sandglass.operator.policy.ChartPolicies.refused;
import static dev.sandglass.operator.policy.SeatPods.DEADLINE;
import static dev.sandglass.operator.policy.SeatPods.NAME;
import static dev.sandglass.operator.policy.SeatPods.SEAT;
import static dev.sandglass.operator.policy.SeatPods.claim;
import static dev.sandglass.operator.policy.SeatPods.deadline;
import static dev.sandglass.operator.policy.SeatPods.labelled;
import static dev.sandglass.operator.policy.SeatPods.noted;
import static dev.sandglass.operator.policy.SeatPods.owned;
import static dev.sandglass.operator.policy.SeatPods.owner;
import static dev.sandglass.operator.policy.SeatPods.seat;
import static dev.sandglass.operator.policy.SeatPods.unlabelled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Who makes a pod a seat, and a seat a sandbox's pod, by the chart's admission policies as rendered before a real API server.
 * Attackers are a tenant's user, who may write pods, and the operator's account in wrong hands; both have an administrator's
 * rights here, and each attack succeeds without the policies. Seats have no scheduler: they are there to be edited.
 */
class PodPolicyIT {

    private static final String OTHER = "0b7e8f1a-9999-4222-8333-444455556666";

    private static final String LABELS = "only the Sandglass operator may set a sandbox's labels on pods";
    private static final String NOTES =
            "only the Sandglass operator may set, change or remove annotations sandglass.dev/";
    private static final String OWNERS =
            "only the Sandglass operator decides to which Sandbox or SandboxPool a pod belongs";
    private static final String CLAIM = "only by the claim of a seat";
    private static final String BORN = "may create a seat only as one";
    private static final String SPEC = "may change nothing in the spec of a pod but activeDeadlineSeconds";
    private static final String SECRETS = "only the Sandglass operator may write the Secret of a sandbox's link";

    private TestNamespace namespace;
    private ChartPolicies policies;
    private KubernetesClient operator;
    private SandboxPool pool;
    private Sandbox sandbox;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        policies = new ChartPolicies(namespace, "pod-labels", "pod-claims", "link-secrets");
        operator = policies.operator();
        pool = new SandboxPool();
        pool.getMetadata().setName("default");
        pool.getMetadata().setNamespace(namespace.name);
        pool.setSpec(SandboxPoolSpec.DEFAULT);
        pool = namespace.admin.resource(pool).create();
        sandbox = namespace.create("box", SandboxSpec.DEFAULT.withSuspended(true));
        namespace.admin.resource(seat(pool)).create();
    }

    @AfterEach
    void cleanUp() {
        policies.close();
        operator.close();
        namespace.close();
    }

    private void install() {
        policies.install();
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(namespace.admin, seat(pool)), LABELS);
            refused(() -> tried(operator, born(made -> made.setName("sbx-" + SEAT + "-1"))), BORN);
            refused(() -> planted(NAME, "Opaque"), SECRETS);
        });
    }

    /** One with another seat's id, so that it is not there yet, but for a change. */
    private Pod born(Consumer<ObjectMeta> change) {
        Pod pod = seat(pool);
        pod.getMetadata().setName("sbx-" + OTHER + "-0");
        pod.getMetadata().getLabels().put(SandboxLabels.SEAT, OTHER);
        change.accept(pod.getMetadata());
        return pod;
    }

    /** A pod that is no sandbox's. */
    private Pod plain(Consumer<ObjectMeta> change) {
        Pod pod = seat(pool)
                .edit()
                .editMetadata()
                .withName("mine")
                .withLabels(new HashMap<>(Map.of("app", "mine")))
                .withAnnotations(new HashMap<>())
                .withOwnerReferences()
                .endMetadata()
                .build();
        change.accept(pod.getMetadata());
        return pod;
    }

    private static Pod tried(KubernetesClient client, Pod pod) {
        return client.resource(pod).dryRun(true).create();
    }

    private Pod edited(KubernetesClient client, String name, Consumer<Pod> change) {
        Pod found = client.pods().inNamespace(namespace.name).withName(name).require();
        change.accept(found);
        return client.resource(found).dryRun(true).update();
    }

    private Pod edited(KubernetesClient client, Consumer<Pod> change) {
        return edited(client, NAME, change);
    }

    private Secret planted(String name, String type) {
        return namespace
                .admin
                .resource(new SecretBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withType(type)
                        .addToData("linkSecretKey", "a2V5")
                        .build())
                .dryRun(true)
                .create();
    }

    /** What is expected of an attack, and the words with which it is refused. */
    private interface Judge {
        void of(Callable<?> attack, String words);
    }

    private void attacksOfAUser(Judge judge) {
        KubernetesClient user = namespace.admin;
        judge.of(() -> tried(user, born(made -> {})), LABELS);
        judge.of(() -> edited(user, claim(sandbox)), LABELS);
        judge.of(() -> edited(user, labelled(SandboxLabels.SANDBOX_UID, "mine")), LABELS);
        judge.of(() -> edited(user, labelled(SandboxLabels.SEAT, OTHER)), LABELS);
        judge.of(() -> edited(user, labelled(SandboxLabels.POOL, "mine")), LABELS);
        judge.of(() -> edited(user, unlabelled(SandboxLabels.SEAT)), LABELS);
        judge.of(() -> edited(user, unlabelled(SandboxLabels.COMPONENT)), LABELS);
        judge.of(() -> edited(user, noted(SandboxLabels.CLAIMED_AT, "2026-03-01T10:00:00.123Z")), NOTES);
        judge.of(() -> edited(user, noted(SandboxLabels.POOL_TEMPLATE_HASH, "other")), NOTES);
        judge.of(() -> edited(user, pod -> pod.getMetadata().setAnnotations(Map.of())), NOTES);
        judge.of(() -> edited(user, owned(owner(sandbox))), OWNERS);
        judge.of(
                () -> edited(
                        user,
                        owned(
                                owner(pool),
                                new OwnerReferenceBuilder(owner(sandbox))
                                        .withController(null)
                                        .build())),
                OWNERS);
        judge.of(() -> edited(user, owned()), OWNERS);
    }

    private void attacksOfAUserOnOtherPods(Judge judge) {
        KubernetesClient user = namespace.admin;
        judge.of(
                () -> tried(
                        user,
                        plain(made -> made.setName("another"))
                                .edit()
                                .editMetadata()
                                .withOwnerReferences(owner(sandbox))
                                .endMetadata()
                                .build()),
                OWNERS);
        judge.of(() -> edited(user, "mine", owned(owner(pool))), OWNERS);
        judge.of(() -> edited(user, "mine", noted(SandboxLabels.LOST, "Evicted")), NOTES);
        judge.of(
                () -> edited(user, "mine", pod -> pod.getMetadata()
                        .setLabels(seat(pool).getMetadata().getLabels())),
                LABELS);
        judge.of(() -> planted("sbx-" + OTHER + "-0", "Opaque"), SECRETS);
        judge.of(() -> planted("mine", "sandglass.dev/link"), SECRETS);
    }

    @Test
    void aTenantsUserNeitherMakesNorClaimsASeat() {
        namespace.admin.resource(plain(made -> {})).create();
        attacksOfAUser((attack, words) -> granted(attack));
        attacksOfAUserOnOtherPods((attack, words) -> granted(attack));

        install();

        attacksOfAUser(ChartPolicies::refused);
        attacksOfAUserOnOtherPods(ChartPolicies::refused);
        // What is a user's own stays so.
        granted(() -> tried(namespace.admin, plain(made -> made.setName("another"))));
        granted(() -> edited(namespace.admin, "mine", labelled("team", "data")));
        granted(() -> edited(namespace.admin, labelled("team", "data")));
        granted(() -> edited(namespace.admin, noted("example.com/team", "data")));
        granted(() -> planted("sbx-mine", "Opaque"));
        granted(() -> namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(NAME)
                .dryRun(true)
                .delete());
    }

    private void attacksByBirth(Judge judge) {
        judge.of(() -> tried(operator, born(made -> made.setName("sbx-" + OTHER + "-1"))), BORN);
        judge.of(() -> tried(operator, born(made -> made.getLabels().put(SandboxLabels.SEAT, SEAT))), BORN);
        judge.of(() -> tried(operator, born(made -> made.getLabels().put(SandboxLabels.POOL, "other"))), BORN);
        judge.of(() -> tried(operator, born(made -> made.getLabels().put(SandboxLabels.SANDBOX, "box"))), BORN);
        judge.of(() -> tried(operator, born(made -> made.setOwnerReferences(List.of(owner(sandbox))))), BORN);
        judge.of(() -> tried(operator, born(made -> made.setOwnerReferences(List.of()))), BORN);
    }

    private void attacksByClaim(Judge judge) {
        judge.of(() -> claimed(unlabelled(SandboxLabels.SEAT)), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.SEAT, OTHER)), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.POOL, "other")), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.INCARNATION, "0")), CLAIM);
        judge.of(() -> claimed(unlabelled(SandboxLabels.INCARNATION)), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.TOOL_SERVER, "github")), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.SANDBOX_UID, OTHER)), CLAIM);
        judge.of(() -> claimed(labelled(SandboxLabels.SANDBOX, "other")), CLAIM);
        judge.of(() -> claimed(owned(owner(pool))), CLAIM);
        judge.of(() -> claimed(pod -> pod.getMetadata().getAnnotations().remove(SandboxLabels.CLAIMED_AT)), CLAIM);
        judge.of(() -> claimed(noted(SandboxLabels.CLAIMED_AT, "soon")), CLAIM);
        judge.of(() -> claimed(noted(SandboxLabels.POOL_TEMPLATE_HASH, "other")), CLAIM);
        judge.of(() -> claimed(noted(SandboxLabels.SECRETS_HASH, "other")), CLAIM);
        judge.of(() -> claimed(SeatPods::tolerate), SPEC);
    }

    private Pod claimed(Consumer<Pod> change) {
        return edited(operator, claim(sandbox).andThen(change));
    }

    @Test
    void theOperatorMakesSeatsAndClaimsThemAndNoMore() {
        attacksByBirth((attack, words) -> granted(attack));
        attacksByClaim((attack, words) -> granted(attack));

        install();

        attacksByBirth(ChartPolicies::refused);
        attacksByClaim(ChartPolicies::refused);
        // The API server itself lets a deadline only shrink.
        refused(() -> claimed(deadline(DEADLINE + 1)), "activeDeadlineSeconds");
        granted(() -> tried(operator, born(made -> {})));
        granted(() -> claimed(pod -> {}));
        granted(() ->
                claimed(noted(SandboxLabels.OWN_MAX_LIFETIME, "3600").andThen(noted(SandboxLabels.LOST, "Evicted"))));
        granted(() -> claimed(deadline(DEADLINE)));
        granted(() -> claimed(noted("example.com/stamp", "by a webhook")));
    }

    private void attacksOnAClaimedPod(Judge judge) {
        Sandbox other = namespace.create("other", SandboxSpec.DEFAULT.withSuspended(true));
        judge.of(() -> edited(operator, claim(other)), CLAIM);
        judge.of(() -> edited(operator, owned(owner(other))), CLAIM);
        judge.of(() -> edited(operator, labelled(SandboxLabels.SANDBOX_UID, "other")), CLAIM);
        judge.of(() -> edited(operator, labelled(SandboxLabels.INCARNATION, "2")), CLAIM);
        judge.of(() -> edited(operator, unlabelled(SandboxLabels.SEAT)), CLAIM);
        judge.of(() -> edited(operator, noted(SandboxLabels.CLAIMED_AT, "2027-03-01T10:00:00.123Z")), CLAIM);
        judge.of(() -> edited(operator, pod -> pod.setMetadata(asFree(pod.getMetadata()))), CLAIM);
        judge.of(() -> edited(operator, SeatPods::tolerate), SPEC);
        namespace.admin.resource(other).delete();
    }

    private ObjectMeta asFree(ObjectMeta claimed) {
        return seat(pool)
                .getMetadata()
                .edit()
                .withUid(claimed.getUid())
                .withResourceVersion(claimed.getResourceVersion())
                .build();
    }

    @Test
    void theOperatorMovesAClaimedPodNowhere() {
        Pod free = namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(NAME)
                .require();
        claim(sandbox).accept(free);
        namespace.admin.resource(free).update();
        attacksOnAClaimedPod((attack, words) -> granted(attack));

        install();

        attacksOnAClaimedPod(ChartPolicies::refused);
        refused(() -> edited(operator, deadline(30_001)), "activeDeadlineSeconds");
        refused(() -> edited(operator, pod -> pod.getSpec().setActiveDeadlineSeconds(null)), "activeDeadlineSeconds");
        granted(() ->
                edited(operator, noted(SandboxLabels.OWN_MAX_LIFETIME, "60").andThen(deadline(60))));
        granted(() -> edited(operator, pod -> {}));
        granted(() -> operator.pods()
                .inNamespace(namespace.name)
                .withName(NAME)
                .dryRun(true)
                .delete());
    }

    /** No policy sees other objects; the garbage collector does, and takes a pod whose owner is not in its namespace. */
    @Test
    void aPodThatIsClaimedForASandboxOfAnotherNamespaceGoes() {
        install();
        try (TestNamespace elsewhere = new TestNamespace()) {
            Sandbox foreign = elsewhere.create("box", SandboxSpec.DEFAULT.withSuspended(true));
            Pod free =
                    operator.pods().inNamespace(namespace.name).withName(NAME).require();
            claim(foreign).accept(free);

            operator.resource(free).update();

            await("the garbage collector").atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(namespace
                            .admin
                            .pods()
                            .inNamespace(namespace.name)
                            .withName(NAME)
                            .get())
                    .isNull());
        }
    }
}
