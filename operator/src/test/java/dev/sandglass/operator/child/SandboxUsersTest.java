package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** As whom a sandbox runs, from start to start and over the files that another one of its name left. */
class SandboxUsersTest {

    private static final Workspace WORKSPACE = Workspace.of("1Gi", null, true);
    private static final SandboxUsers USERS = SandboxUsers.DEFAULT;
    private static final SandboxUsers MOVED = new SandboxUsers(true, 2_000_000, 1000);
    private static final SandboxUsers NAMESPACES = new SandboxUsers(false, USERS.from(), USERS.count());

    private static Sandbox sandbox(String uid, SandboxSpec spec) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid(uid);
        sandbox.setSpec(spec);
        return sandbox;
    }

    private static Sandbox plain(String uid) {
        return sandbox(uid, SandboxSpec.DEFAULT);
    }

    private static Sandbox withWorkspace(String uid) {
        return sandbox(uid, SandboxSpec.DEFAULT.withWorkspace(WORKSPACE));
    }

    private static Optional<PersistentVolumeClaim> claimOf(Sandbox sandbox, SandboxUsers users) {
        return Optional.of(WorkspaceClaim.desired(sandbox, WORKSPACE, users));
    }

    private static PodSpec pod(Sandbox sandbox, SandboxUsers users) {
        return pod(sandbox, users, Optional.empty());
    }

    private static PodSpec pod(Sandbox sandbox, SandboxUsers users, Optional<PersistentVolumeClaim> found) {
        PodSettings settings = new PodSettings(
                new ImagePolicy("registry.example.com/kernel:1", List.of()),
                Duration.ofHours(8),
                new NamespaceAccount("sandglass-sandbox", List.of()),
                RuntimeClassPolicy.DEFAULT_ONLY,
                users,
                Scheduling.anywhere(RequestRatios.of("1")));
        return SandboxPod.desired(sandbox, 1, settings, found, Optional.empty(), NetworkProbe.NONE)
                .getSpec();
    }

    @Test
    void everySandboxHasAUidOfItsOwnInTheRangeAndTheGroupOfAll() {
        List<PodSecurityContext> users = IntStream.range(0, 1000)
                .mapToObj(number -> UUID.nameUUIDFromBytes(new byte[] {(byte) number, (byte) (number >> 8)}))
                .map(uid -> pod(plain(uid.toString()), USERS).getSecurityContext())
                .toList();

        assertThat(users)
                .extracting(PodSecurityContext::getRunAsUser)
                .doesNotHaveDuplicates()
                .allMatch(user -> user >= 1_879_048_192L && user <= Integer.MAX_VALUE);
        assertThat(users).allMatch(context -> context.getRunAsGroup() == 65532 && context.getFsGroup() == 65532);
    }

    @Test
    void itIsTheSameInEveryProcessAndVersion() {
        assertThat(USERS.of("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80", Optional.empty()))
                .isEqualTo(1_992_252_193L);
    }

    @Test
    void aRangeOfOneGivesThatOne() {
        assertThat(new SandboxUsers(true, Integer.MAX_VALUE, 1).of("a", Optional.empty()))
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void filesKeepTheirOwnerWhoeverTakesThemAndWhereverTheRangeMoves() {
        Optional<PersistentVolumeClaim> kept = claimOf(withWorkspace("former"), USERS);
        long owner = USERS.of("former", Optional.empty());

        assertThat(USERS.of("former", kept)).isEqualTo(owner);
        assertThat(USERS.of("next", kept)).isEqualTo(owner);
        assertThat(MOVED.of("next", kept)).isEqualTo(owner);
        assertThat(USERS.of("next", Optional.empty())).isNotEqualTo(owner);
    }

    @Test
    void aClaimThatIsNotMountedSaysNothing() {
        Optional<PersistentVolumeClaim> kept = claimOf(withWorkspace("former"), USERS);

        assertThat(pod(plain("next"), USERS, kept)).isEqualTo(pod(plain("next"), USERS));
        assertThat(pod(withWorkspace("next"), USERS, kept).getSecurityContext().getRunAsUser())
                .isEqualTo(USERS.of("former", Optional.empty()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0", "-1", "root", "1000", "65532", "65535", "2147483648", "99999999999999999999", "065536"})
    void aRecordThatIsNoUidOfASandboxCountsAsNone(String record) {
        Optional<PersistentVolumeClaim> claim = claimOf(withWorkspace("former"), USERS);
        claim.orElseThrow().getMetadata().getAnnotations().put(SandboxLabels.RUN_AS_USER, record);

        assertThat(USERS.of("next", claim)).isEqualTo(65532);
    }

    @Test
    void theFilesOfTheVersionBeforeStayTheirs() {
        Optional<PersistentVolumeClaim> claim = claimOf(withWorkspace("former"), USERS);
        claim.orElseThrow().getMetadata().setAnnotations(null);

        assertThat(USERS.of("former", claim)).isEqualTo(65532);
    }

    @ParameterizedTest
    @CsvSource({"65536", "2147483647"})
    void theOutermostUidsAreTakenFromAClaim(long record) {
        Optional<PersistentVolumeClaim> claim = claimOf(withWorkspace("former"), USERS);
        claim.orElseThrow().getMetadata().getAnnotations().put(SandboxLabels.RUN_AS_USER, Long.toString(record));

        assertThat(USERS.of("next", claim)).isEqualTo(record);
    }

    @Test
    void inUserNamespacesAllHaveTheSameUidAndTheNodeAnother() {
        PodSpec spec = pod(plain("a"), NAMESPACES);

        assertThat(spec.getHostUsers()).isFalse();
        assertThat(spec.getSecurityContext().getRunAsUser()).isEqualTo(65532);
        assertThat(NAMESPACES.of("next", claimOf(withWorkspace("former"), USERS)))
                .isEqualTo(65532);
        assertThat(pod(plain("a"), USERS).getHostUsers()).isNull();
    }

    @Test
    void filesOfAUserNamespaceKeepTheirOwnerWithoutIt() {
        assertThat(USERS.of("next", claimOf(withWorkspace("former"), NAMESPACES)))
                .isEqualTo(65532);
    }

    @ParameterizedTest
    @CsvSource({"65535, 1", "65536, 0", "65536, 2147418113", "2147483647, 2", "2147483648, 1", "65536, -1"})
    void aRangeOutsideOfWhatKubernetesTakesIsRefused(long from, long count) {
        assertThatThrownBy(() -> new SandboxUsers(true, from, count))
                .hasMessage("The uids of sandboxes must lie between 65536 and 2147483647, not be " + count + " from "
                        + from + " on");
    }

    @Test
    void theWholeRangeIsAllowed() {
        assertThatCode(() -> new SandboxUsers(true, 65536, 2_147_418_112)).doesNotThrowAnyException();
    }
}
