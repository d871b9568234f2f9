package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.InboundFrames;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.RecordedFrames;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * No text of a drop-in endpoint sends a model to a tool, an argument or a setting that is not there: every problem, step,
 * outcome and warning passes through each endpoint here, and every word that looks like a name must be one of its own.
 */
@SuppressWarnings("NullAway.Init")
class OwnWordsTest {

    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");

    /** What may stand in any text here: a URL's settings, and names of fields and statuses. */
    private static final Set<String> EVERYWHERE = Set.of(
            "allowed_domains",
            "idle_timeout",
            "max_lifetime",
            "runtime_class",
            "env_error",
            "validation_error",
            "kernel_died",
            "oom_killed");

    /** Arguments of {@code /mcp}, which mean nothing here unless the endpoint has them itself. */
    private static final Set<String> FOREIGN = Set.of(
            "language",
            "session",
            "config",
            "wait",
            "background",
            "timeout",
            "envs",
            "path",
            "start",
            "cwd",
            "command",
            "args",
            "packages",
            "namespaces",
            "recursive",
            "offset",
            "limit");

    private static final Pattern NAME = Pattern.compile("\\b[a-z]+(?:_[a-z0-9]+)+\\b");
    private static final Pattern CAMEL = Pattern.compile("\\bspec\\.[a-z]\\w*|\\b[a-z]+[A-Z]\\w*\\b");
    private static final Pattern QUOTED = Pattern.compile("'([a-z]+)'");

    /** An endpoint with a call that runs something, and the names that a text of it may have. */
    enum Endpoint {
        IPYTHON(
                "execute",
                "{'session':'work','code':'1'}",
                "list_sessions timeout_s session execution_count exec_count uptime_s"),
        IPYBOX(
                "execute_ipython_cell",
                "{'code':'1'}",
                "execute_ipython_cell install_package package_name max_output_chars timeout server_params"),
        PACKAGES(
                "install_package",
                "{'package_name':'x'}",
                "execute_ipython_cell install_package package_name max_output_chars timeout server_params"),
        SERVERS(
                "register_mcp_server",
                "{'server_name':'x','server_params':{'command':'x'}}",
                "execute_ipython_cell install_package package_name register_mcp_server server_name server_params fetch_url"),
        CODE_MODE("run_python", "{'code':'1'}", "run_python timeout");

        private final String tool;
        private final String arguments;
        private final String own;

        Endpoint(String tool, String arguments, String own) {
            this.tool = tool;
            this.arguments = arguments;
            this.own = own;
        }

        private String path() {
            return switch (this) {
                case IPYTHON -> "/mcp/ipython";
                case IPYBOX, PACKAGES, SERVERS -> "/mcp/ipybox";
                case CODE_MODE -> "/mcp/code-mode";
            };
        }

        private boolean knows(String name) {
            return List.of(own.split(" ")).contains(name);
        }

        private void check(String text) {
            NAME.matcher(text).results().map(found -> found.group()).forEach(name -> assertThat(
                            knows(name) || EVERYWHERE.contains(name))
                    .as("%s knows '%s' of: %s", this, name, text)
                    .isTrue());
            QUOTED.matcher(text).results().map(found -> found.group(1)).forEach(name -> assertThat(
                            FOREIGN.contains(name) && !knows(name))
                    .as("%s has no '%s', of: %s", this, name, text)
                    .isFalse());
            assertThat(text.replace("exitCode", "").replace("timeoutSeconds", ""))
                    .doesNotContainPattern(CAMEL);
        }
    }

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private String said(Endpoint endpoint, String sandbox) throws Exception {
        JsonNode answer = EndpointClient.of(gateway, endpoint.path() + "?sandbox=" + sandbox)
                .call(endpoint.tool, endpoint.arguments);
        return TestGateway.text(answer);
    }

    private void ends(Endpoint endpoint, OutputRecord.Outcome outcome) throws Exception {
        gateway.supervisor.outcome = outcome;
        endpoint.check(said(endpoint, "box"));
    }

    private static OutputRecord.Outcome outcome(
            String status, String message, @Nullable NextStep next, @Nullable String warning) {
        return new OutputRecord.Outcome(0, status, 1, null, null, false, message, next, warning, false);
    }

    private static Stream<NextStep> steps() {
        return Stream.concat(
                Arrays.stream(NextStep.Plain.values()),
                Stream.concat(
                        Arrays.stream(NextStep.RunCommand.Purpose.values())
                                .map(purpose -> new NextStep.RunCommand(purpose, "pip install x")),
                        Stream.of(
                                new NextStep.AllowHosts(List.of()),
                                new NextStep.AllowHosts(List.of("git.example.com")),
                                new NextStep.FreeCapacity(
                                        "default",
                                        1,
                                        List.of(new NextStep.FreeCapacity.Idle("other", Duration.ofMinutes(5)))))));
    }

    private static List<SandboxProblem> problems() {
        List<SandboxProblem> problems = new ArrayList<>(List.of(
                new SandboxProblem.NotFound("box", "default"),
                SandboxProblem.NotRunning.stopped(BOX),
                SandboxProblem.NotRunning.starting(BOX, Optional.of("Pulling")),
                SandboxProblem.NotRunning.resuming(BOX, Optional.empty()),
                new SandboxProblem.Asleep(BOX, "Idle"),
                new SandboxProblem.StartFailed(BOX, "ImageForbidden", "no such image"),
                new SandboxProblem.Unreachable(BOX, "no answer in 10 s", null),
                SandboxProblem.Unreachable.unanswered(BOX, "no answer in 10 s", null),
                new SandboxProblem.Unavailable("it is busy", null)));
        steps().forEach(step -> {
            problems.add(new SandboxProblem.Refused("No.", step));
            problems.add(new SandboxProblem.StartFailed(BOX, "ImageUnusable", "It lacks x.", step));
        });
        return problems;
    }

    @Test
    void everyKindOfProblemIsAmongThem() {
        Set<Class<?>> kinds = new HashSet<>();
        problems().forEach(problem -> kinds.add(problem.getClass()));
        assertThat(kinds).containsAll(Arrays.asList(SandboxProblem.class.getPermittedSubclasses()));
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void problemsAreToldInOwnWords(Endpoint endpoint) throws Exception {
        int number = 0;
        for (SandboxProblem problem : problems()) {
            gateway.sandboxes.startsAnswer(Mono.error(problem));
            endpoint.check(said(endpoint, "absent-" + number++));
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void stepsAreToldInOwnWords(Endpoint endpoint) throws Exception {
        for (NextStep step : steps().toList()) {
            for (String status :
                    List.of("ok", "error", "timeout", "rejected", "oom_killed", "kernel_died", "env_error")) {
                ends(endpoint, outcome(status, "It is so.", step, null));
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void whatASupervisorSaysIsToldInOwnWords(Endpoint endpoint) throws Exception {
        int outcomes = 0;
        for (RecordedFrames.Recorded recorded : RecordedFrames.load(RecordedFrames.FROM_SUPERVISOR)) {
            if (InboundFrames.decode(recorded.frames()) instanceof Inbound.Output output
                    && output.record() instanceof OutputRecord.Outcome outcome) {
                ends(endpoint, outcome);
                outcomes++;
            }
        }
        assertThat(outcomes).isGreaterThan(10);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void warningsAreToldInOwnWords(Endpoint endpoint) throws Exception {
        ends(endpoint, outcome("ok", "", null, "Something else was killed at the memory limit."));
        if (endpoint == Endpoint.IPYTHON) {
            // Nowhere else can an environment be asked for.
            ends(endpoint, outcome("ok", "", null, FakeSupervisor.TOO_LATE));
        }
    }

    /** A refusal alone has a code. After a restart each call waits two seconds for its cause. */
    private static List<String> codes(LinkException.Kind kind) {
        return kind == LinkException.Kind.REFUSED
                ? List.of("", "rejected", "sessions_full", "network_open", "env_error", "unknown_execution")
                : List.of("");
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void failuresOfTheLinkAreToldInOwnWords(Endpoint endpoint) throws Exception {
        for (LinkException.Kind kind : LinkException.Kind.values()) {
            for (String code : codes(kind)) {
                gateway.supervisor.failure = new LinkException(kind, code, "8 of them exist already");
                endpoint.check(said(endpoint, "box"));
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(Endpoint.class)
    void brokenArgumentsAndDescriptionsNameOnlyWhatIsHere(Endpoint endpoint) throws Exception {
        EndpointClient client = EndpointClient.of(gateway, endpoint.path());
        for (String arguments : List.of("{}", "{'colour':'x'}", "{'code':1}", "{'code':'1','env':1}")) {
            endpoint.check(TestGateway.text(client.call(endpoint.tool, arguments)));
        }
        String list = client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
                .body();
        assertThat(list).doesNotContain("sandbox_", "python_env", "execution_id");
        String hello = client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}")
                .body();
        assertThat(hello).doesNotContain("sandbox_", "python_env", "execution_id");
    }

    @Test
    void theCheckCanFail() {
        for (String foreign :
                List.of("call sandbox_list", "a longer 'wait'", "its python_env", "spec.env", "allowedDomains")) {
            assertThat(fails(foreign)).as(foreign).isTrue();
        }
        assertThat(fails("give a longer timeout_s; list_sessions tells 'work'")).isFalse();
    }

    private static boolean fails(String text) {
        try {
            Endpoint.IPYTHON.check(text);
            return false;
        } catch (AssertionError found) {
            return true;
        }
    }
}
