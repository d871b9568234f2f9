package dev.sandglass.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A warm sandbox beside a cold one of the same spec. What differs is named here: what is each sandbox's
 * own (names, addresses, credentials), and the age of the processes, which code can read in {@code /proc}.
 */
class WarmLikeColdE2E {

    private static final int MEMORY = 321;

    private static final Map<String, Object> ASKED = Map.of(
            "envs", Map.of("E2E_ONE", "1", "E2E_TWO", "zwei \u2713", "TZ", "Asia/Kolkata", "PYTHONHASHSEED", "0"),
            "allowed_domains", List.of("allowed.example.com"));

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static String warm = "";
    private static String cold = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        try (Pool pool = Pool.of(TENANT, 1, MEMORY, "python", "javascript")) {
            warm = SANDBOXES.start(pool.config(ASKED));
            assertThat(pool.startOf(warm)).isEqualTo("Warm: pool " + pool.name());
            pool.resize(0);
            pool.awaitSeats(0);
            cold = SANDBOXES.start(pool.config(ASKED));
            assertThat(pool.startOf(cold)).isEqualTo("Cold: NoSeat");
        }
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** What code prints, without what is its sandbox's own. */
    private String seen(String sandbox, Map<String, Object> call) {
        Answer answer = agent.call(
                call.containsKey("command") ? "sandbox_run_command" : "sandbox_run_code", with(call, sandbox));
        assertThat(answer.failed()).as(answer.text()).isFalse();
        Pod pod = TENANT.podOf(sandbox);
        String id = pod.getMetadata().getName().replaceAll("^sbx-|-[0-9]+$", "");
        return answer.stdout()
                .replace(id, "<id>")
                .replace(sandbox, "<sandbox>")
                .replaceAll("//[^@ '\"]*@", "//<credential>@")
                .replace(Objects.requireNonNull(pod.getStatus().getPodIP()), "<address>");
    }

    private static Map<String, Object> with(Map<String, Object> call, String sandbox) {
        var all = new HashMap<>(call);
        all.put("sandbox", sandbox);
        return all;
    }

    private void same(Map<String, Object> call) {
        assertThat(seen(warm, call)).isNotBlank().isEqualTo(seen(cold, call));
    }

    private void samePython(String code) {
        same(Map.of("code", code));
    }

    private void sameShell(String command) {
        same(Map.of("command", "sh", "args", List.of("-c", command)));
    }

    @Test
    void theEnvironmentIsTheSameInPythonJavaScriptAndCommands() {
        samePython("import os\nfor item in sorted(os.environ.items()): print(item)");
        same(Map.of(
                "language",
                "javascript",
                "code",
                "for (const name of Object.keys(process.env).sort()) console.log(name, process.env[name])"));
        sameShell("env | sort");
    }

    @Test
    void theKernelsBeginAlike() {
        samePython("import sys, os; print(sys.path, sys.flags, sys.argv[1:], os.getcwd(), os.umask(0o002), hash('x'))");
        samePython("import time, locale; print(time.strftime('%Z %z'), locale.setlocale(locale.LC_ALL, None))");
        samePython("import sys; print(sorted(sys.modules))");
        samePython("print(sorted(name for name in globals() if not name.startswith('_i')))");
        samePython("import threading; print(sorted(thread.name for thread in threading.enumerate()))");
    }

    @Test
    void filesMountsAndProcessesAreAlike() {
        sameShell("ls -la --time-style=+ / /workspace /run 2>&1 | sed -E 's/ +[0-9]+ / N /g'");
        sameShell(
                "find /workspace /tmp /run /dev/shm -printf '%p %y %m\\n' 2>/dev/null | sed -E 's,private/.* s,private/SOCKET s,; s/[0-9]+/N/g' | sort");
        sameShell("awk '{print $5, $6, $9}' /proc/self/mountinfo | sort");
        samePython("""
                import glob, re
                for line in sorted(
                    re.sub("[0-9]+", "N", open(file, "rb").read().replace(b"\\0", b" ").decode()[:60])
                    for file in glob.glob("/proc/[0-9]*/cmdline")
                ): print(line)
                """);
    }

    @Test
    void whoTheCodeIsAndWhatItMayIsTheSame() {
        sameShell("id -g; hostname; grep -E '^(Cap|NoNewPrivs|Seccomp)' /proc/self/status; cat /etc/resolv.conf");
        samePython("""
                import resource
                for name in sorted(dir(resource)):
                    if name.startswith("RLIMIT_"): print(name, resource.getrlimit(getattr(resource, name)))
                """);
        for (String sandbox : List.of(warm, cold)) {
            long user = Long.parseLong(seen(sandbox, Map.of("code", "import os; print(os.getuid())"))
                    .strip());
            assertThat(user)
                    .as("a uid of the range that each sandbox gets one of")
                    .isEqualTo(
                            TENANT.podOf(sandbox).getSpec().getSecurityContext().getRunAsUser())
                    .isGreaterThan(10_000);
        }
    }

    @Test
    void answersAndFiguresHaveTheSameForm() {
        Answer one = agent.call("sandbox_get_metrics", Map.of("sandbox", warm));
        Answer other = agent.call("sandbox_get_metrics", Map.of("sandbox", cold));
        assertThat(keys(one)).isNotEmpty().isEqualTo(keys(other));
        assertThat(agent.python(warm, "1/0").text())
                .isEqualTo(agent.python(cold, "1/0").text());
        assertThat(agent.python(warm, "40 + 2").data().keySet())
                .isEqualTo(agent.python(cold, "40 + 2").data().keySet());
    }

    private static Set<String> keys(Answer metrics) {
        return metrics.list("sandboxes").stream()
                .map(Map.class::cast)
                .flatMap(each -> ((Map<?, ?>) each).keySet().stream())
                .map(String::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void nothingOfThePoolsLifeIsVisibleToCode() {
        String word = "(?i)seat|pool";
        for (String what : List.of(
                "env",
                "ls -laR /run /etc/sandglass 2>/dev/null",
                "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'",
                "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'")) {
            String said = seen(warm, Map.of("command", "sh", "args", List.of("-c", what + "; true")));
            assertThat(said.lines().filter(line -> line.matches(".*(" + word + ").*")))
                    .as(what)
                    .isEmpty();
        }
    }

    @Test
    void thePodsDifferInWhoTheyAreAlone() {
        assertThat(shape(TENANT.podOf(warm))).isEqualTo(shape(TENANT.podOf(cold)));
        assertThat(labels(warm)).isEqualTo(labels(cold));
        assertThat(annotations(warm)).isEqualTo(annotations(cold));
    }

    /**
     * The spec without names, the deadline, which counts from the pod's start, the startup probe, which ended with its first
     * success, and the variables of a seat.
     */
    private static String shape(Pod pod) {
        Set<String> own = Set.of(
                "SANDGLASS_SANDBOX_UID",
                "SANDGLASS_INCARNATION",
                "SANDGLASS_ENV",
                "SANDGLASS_SEAT",
                "SANDGLASS_SEAT_LANGUAGES");
        Pod copy = Serialization.clone(pod);
        copy.getSpec().setActiveDeadlineSeconds(null);
        copy.getSpec().getSecurityContext().setRunAsUser(null);
        var container = copy.getSpec().getContainers().getFirst();
        List<EnvVar> variables = container.getEnv().stream()
                .filter(variable -> !own.contains(variable.getName()))
                .toList();
        container.setEnv(variables);
        container.setStartupProbe(null);
        return Serialization.asYaml(copy.getSpec()).replaceAll("sbx-[0-9a-f-]+", "<name>");
    }

    private static Set<String> labels(String sandbox) {
        Set<String> keys =
                new TreeSet<>(TENANT.podOf(sandbox).getMetadata().getLabels().keySet());
        keys.removeAll(Set.of(SandboxLabels.SEAT, SandboxLabels.POOL));
        return keys;
    }

    private static Set<String> annotations(String sandbox) {
        Set<String> keys = new TreeSet<>(
                TENANT.podOf(sandbox).getMetadata().getAnnotations().keySet());
        keys.removeAll(Set.of(SandboxLabels.CLAIMED_AT, SandboxLabels.POOL_TEMPLATE_HASH, SandboxLabels.COLD_START));
        return keys;
    }

    @Test
    void theResourcesSayTheSameButForTheStart() {
        Map<String, Object> one = status(warm);
        Map<String, Object> other = status(cold);
        assertThat(one.remove("seat")).isNotNull();
        assertThat(one.remove("start")).isNotEqualTo(other.remove("start"));

        assertThat(one.keySet()).isEqualTo(other.keySet());
        assertThat(one.get("incarnation")).isEqualTo(other.get("incarnation"));
        assertThat(KUBECTL.run("describe", "sandboxes.sandglass.dev", warm)).contains("Start:", "Warm: pool");
    }

    @SuppressWarnings("unchecked") // an object's fields
    private static Map<String, Object> status(String sandbox) {
        Sandbox resource = TENANT.sandbox(sandbox);
        return new TreeMap<>(Serialization.unmarshal(Serialization.asJson(resource.observed()), Map.class));
    }
}
