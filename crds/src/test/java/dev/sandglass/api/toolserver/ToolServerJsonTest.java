package dev.sandglass.api.toolserver;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolServerJsonTest {

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    private static final String HEAD = """
            apiVersion: sandglass.dev/v1alpha1
            kind: SandboxToolServer
            metadata:
              name: demo
            """;

    private static SandboxToolServer parse(String rest) {
        return SERIALIZATION.unmarshal(HEAD + rest, SandboxToolServer.class);
    }

    @Test
    void everyFieldSurvivesTheRoundTrip() {
        SandboxToolServer server = parse("""
                spec:
                  stdio: {image: i, command: npx, args: [-y, ""], env: [{name: A, value: b}], cwd: /data}
                  allowedDomains: []
                  memory: 1Gi
                  cpus: 2
                  idleTimeout: 1h
                  tools: {allow: [], deny: [b], ask: [c]}
                  limits: {callTimeout: 30s, maxResultSize: 1Mi, concurrency: 2, callsPerExecution: 3}
                  sandboxSelector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: [v]}]}
                status:
                  observedGeneration: 2
                  sandboxName: demo-mcp
                  serverInfo: {name: Demo, version: "1.0", protocolVersion: 2025-11-25}
                  toolCount: 0
                  toolsHash: sha256:00
                """);

        SandboxToolServer read = SERIALIZATION.unmarshal(SERIALIZATION.asJson(server), SandboxToolServer.class);

        assertThat(read.getSpec()).isEqualTo(server.getSpec());
        assertThat(read.getStatus()).isEqualTo(server.getStatus());
        assertThat(read.getStatus().toolCount()).isZero();
        assertThat(read.getSpec().allowedDomains()).isEmpty();
        assertThat(read.getSpec().toolRules().allow()).isEmpty();
        assertThat(read.getSpec().limits().timeout()).contains(Duration.ofSeconds(30));
        assertThat(read.getSpec().limits().maxResultBytes()).isEqualTo(1 << 20);
    }

    @Test
    void aStatusOfAnOlderReleaseIsReadAndWrittenWithoutTheServersWords() {
        SandboxToolServer old = parse("""
                spec: {stdio: {command: npx}}
                status: {observedGeneration: 1, sandboxName: demo-mcp}
                """);

        assertThat(old.getStatus()).isEqualTo(new SandboxToolServerStatus(1L, null, "demo-mcp"));
        assertThat(SERIALIZATION.asJson(old.getStatus())).doesNotContain("serverInfo", "tools", "null");
    }

    @Test
    void whatIsAbsentTakesTheDefaultsAndWhatALaterVersionAddsIsNoError() {
        SandboxToolServerSpec spec = parse("spec: {http: {url: https://a.example/, later: 1}, later: {}}")
                .getSpec();

        assertThat(spec.memory()).isEqualTo(new Quantity("256Mi"));
        assertThat(spec.cpus()).isEqualTo(new Quantity("500m"));
        assertThat(spec.idleTimeout()).isEqualTo("10m");
        assertThat(spec.allowedDomains()).isNull();
        assertThat(spec.http()).isEqualTo(new HttpServer("https://a.example/", null, HttpServer.STREAMABLE_HTTP));
        assertThat(spec.limits()).isEqualTo(new CallLimits(null, new Quantity("4Mi"), 16, 1000));
        assertThat(spec.toolRules()).isEqualTo(ToolRules.ALL);
        assertThat(spec.selector()).isEqualTo(SandboxSelector.ALL);
        assertThat(parse("").observed()).isEqualTo(SandboxToolServerStatus.UNSEEN);
    }

    @Test
    void valuesOfSecretsStandApartFromThoseOfTheResource() {
        SandboxToolServerSpec stdio = parse("""
                spec:
                  stdio:
                    command: npx
                    env:
                      - {name: A, value: b}
                      - {name: T, valueFrom: {secretKeyRef: {name: sandglass-mcp-x, key: token}}}
                      - {name: U, valueFrom: {secretKeyRef: {name: sandglass-mcp-x, key: user}}}
                """).getSpec();
        SandboxToolServerSpec http = parse("""
                spec:
                  http:
                    url: https://a.example/
                    headers:
                      - {name: Authorization, valueFrom: {secretKeyRef: {name: sandglass-mcp-y, key: header}}}
                """).getSpec();

        assertThat(requireNonNull(stdio.stdio()).environment()).containsExactly(entry("A", "b"));
        assertThat(requireNonNull(stdio.stdio()).environmentSecrets())
                .containsExactly(
                        entry("T", new SecretKeyRef("sandglass-mcp-x", "token")),
                        entry("U", new SecretKeyRef("sandglass-mcp-x", "user")));
        assertThat(stdio.secretKeys())
                .containsExactly(entry("sandglass-mcp-x", new TreeSet<>(Set.of("token", "user"))));
        assertThat(requireNonNull(http.http()).headerTexts()).isEmpty();
        assertThat(http.secretKeys()).containsExactly(entry("sandglass-mcp-y", new TreeSet<>(Set.of("header"))));
        assertThat(SERIALIZATION.unmarshal(SERIALIZATION.asJson(stdio), SandboxToolServerSpec.class))
                .isEqualTo(stdio);
        assertThat(SERIALIZATION.asJson(new SecretKeyRef("sandglass-mcp-x", "token")))
                .isEqualTo("{\"name\":\"sandglass-mcp-x\",\"key\":\"token\"}");
    }

    @ParameterizedTest
    @CsvSource({
        "sandglass-mcp-a, token, true",
        "sandglass-mcp-a, .dockerconfigjson, true",
        "sandglass-mcp-a.b, A_b.c-d, true",
        "sandglass-mcp-, token, false",
        "sandglass-mcp-a/../b, token, false",
        "mountable-a, token, false",
        "sandbox-mcp-a, token, false",
        "sbx-a, token, false",
        "sandglass-mcp-a, .., false",
        "sandglass-mcp-a, ..data, false",
        "sandglass-mcp-a, ., false",
        "sandglass-mcp-a, a/b, false",
        "sandglass-mcp-a, '', false",
    })
    void onlyEntriesOfSecretsForMcpServersAreOpen(String name, String key, boolean open) {
        assertThat(new SecretKeyRef(name, key).isOpen()).isEqualTo(open);
    }

    @Test
    void whatMayBeAKeyIsNotShown() {
        SandboxToolServerSpec stdio = parse("""
                spec:
                  stdio: {command: npx, args: [--token=hidden1], env: [{name: A, value: hidden2}]}
                """).getSpec();
        SandboxToolServerSpec http = parse("""
                spec:
                  http: {url: https://a.example/hidden3, headers: [{name: A, value: hidden4}]}
                """).getSpec();

        assertThat(stdio + " " + http + " " + new HttpHeader("A", "hidden5", null))
                .doesNotContain("hidden");
    }

    @ParameterizedTest
    @CsvSource({
        "https://mcp.example.com/mcp, mcp.example.com:443",
        "http://MCP.example.com, mcp.example.com:80",
        "https://mcp.example.com:8443?a=b@c, mcp.example.com:8443",
        "http://192.0.2.7/, 192.0.2.7:80",
        "https://[2001:db8::7]/mcp, [2001:db8::7]:443",
        // The path makes no range of it.
        "https://192.0.2.0/24, 192.0.2.0:443",
    })
    void theUrlOpensItsHostOnItsPort(String url, String entry) {
        assertThat(new HttpServer(url, null, null).domain()).hasToString(entry);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://a@mcp.example.com/",
                "https://a:b@mcp.example.com/",
                "https://a:1@mcp.example.com/",
                "https:///mcp",
                "ftp://mcp.example.com/",
                "https://127.1/",
                "https://0x7f000001/",
                "https://*.example.com/",
                "https://*/",
                "https://mcp.example.com:0/",
                "https://mcp.example.com:99999/",
                "https://mcp.example.com\\@example.org/"
            })
    void aUrlWithoutAHostThatAnEntryOpensIsRefused(String url) {
        assertThatIllegalArgumentException().isThrownBy(() -> new HttpServer(url, null, null).domain());
    }

    @ParameterizedTest
    @CsvSource({
        "search, ALLOWED",
        "search_code, ALLOWED",
        "search_all_secrets, DENIED",
        "create_issue, ASK",
        "repo, ALLOWED",
        "repos, DENIED",
        "Search, DENIED",
        "'', DENIED"
    })
    void listsSayWhichToolsCodeMayCall(String tool, ToolRules.Verdict verdict) {
        ToolRules rules =
                new ToolRules(List.of("search*", "re?o", "create_*"), List.of("*secret*"), List.of("create_issue"));

        assertThat(rules.verdict(tool)).isEqualTo(verdict);
    }

    @Test
    void withoutAListOfAllowedToolsAllAreAndWithAnEmptyOneNone() {
        assertThat(ToolRules.ALL.verdict("any")).isEqualTo(ToolRules.Verdict.ALLOWED);
        assertThat(new ToolRules(List.of(), null, null).verdict("any")).isEqualTo(ToolRules.Verdict.DENIED);
        assertThat(new ToolRules(null, List.of("a*y"), null).verdict("any")).isEqualTo(ToolRules.Verdict.DENIED);
        assertThat(new ToolRules(null, List.of("*"), List.of("*")).verdict("any"))
                .isEqualTo(ToolRules.Verdict.DENIED);
    }

    /** Which backtracking would not decide within the lifetime of the universe. */
    @Test
    void aGlobOfManyStarsIsDecidedAtOnce() {
        ToolRules rules = new ToolRules(List.of("*a".repeat(64)), null, null);

        assertThat(rules.verdict("a".repeat(10_000) + "b")).isEqualTo(ToolRules.Verdict.DENIED);
        assertThat(rules.verdict("a".repeat(10_000))).isEqualTo(ToolRules.Verdict.ALLOWED);
    }

    @ParameterizedTest
    @CsvSource({
        "In, true, false, false",
        "NotIn, false, true, true",
        "Exists, true, true, false",
        "DoesNotExist, false, false, true",
        "Later, false, false, false"
    })
    void aRequirementHoldsAsInKubernetes(String operator, boolean same, boolean other, boolean none) {
        SandboxSelector selector =
                new SandboxSelector(null, List.of(new SandboxSelector.Requirement("team", operator, List.of("data"))));

        assertThat(selector.matches(Map.of("team", "data"))).isEqualTo(same);
        assertThat(selector.matches(Map.of("team", "web"))).isEqualTo(other);
        assertThat(selector.matches(null)).isEqualTo(none);
    }

    @Test
    void everyLabelOfASelectorHasToBeThere() {
        SandboxSelector selector = new SandboxSelector(Map.of("a", "1", "b", "2"), null);

        assertThat(selector.matches(Map.of("a", "1", "b", "2", "c", "3"))).isTrue();
        assertThat(selector.matches(Map.of("a", "1"))).isFalse();
        assertThat(SandboxSelector.ALL.matches(Map.of("a", "1"))).isTrue();
        assertThat(SandboxSelector.ALL.matches(null)).isTrue();
    }
}
