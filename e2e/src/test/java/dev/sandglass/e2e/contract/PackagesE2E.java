package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Packages of a sandbox on a read-only root: installed from files that are made here, for it has no network. */
class PackagesE2E {

    private static final int TAR_BLOCK = 512;

    /** Not after retries: those of pip alone wait for 7.75 s, those of npm longer, and both start slowly on a busy node. */
    private static final Duration AT_ONCE = Duration.ofMillis(7_500);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox;

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    /** A Python package of one module with a variable. */
    private static byte[] wheel(String name, String version) throws IOException {
        String info = name + "-" + version + ".dist-info/";
        var files = new LinkedHashMap<String, String>();
        files.put(name + ".py", "word = 'hello of " + version + "'\n");
        files.put(info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
        files.put(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
        String record = files.keySet().stream().map(path -> path + ",,\n").collect(Collectors.joining());
        files.put(info + "RECORD", record + info + "RECORD,,\n");
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                zip.putNextEntry(new ZipEntry(file.getKey()));
                zip.write(file.getValue().getBytes(StandardCharsets.UTF_8));
            }
        }
        return bytes.toByteArray();
    }

    /** A Node package of one module, as {@code npm pack} makes it. */
    private static byte[] tarball(String name) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var tar = new GZIPOutputStream(bytes)) {
            String about = "{\"name\":\"%s\",\"version\":\"1.0.0\",\"main\":\"index.js\"}".formatted(name);
            tar.write(tarEntry("package/package.json", about));
            tar.write(tarEntry("package/index.js", "module.exports = 'hello of node';"));
            tar.write(new byte[2 * TAR_BLOCK]);
        }
        return bytes.toByteArray();
    }

    private static byte[] tarEntry(String path, String text) {
        String start = path + "\0".repeat(100 - path.length()) + "0000644\0" + "0000000\0".repeat(2)
                + "%011o\0".formatted(text.length()) + "00000000000\0";
        String end = "0" + "\0".repeat(100) + "ustar\00000";
        int sum = (start + " ".repeat(8) + end).chars().sum();
        String header = start + "%06o\0 ".formatted(sum) + end;
        byte[] entry = Arrays.copyOf(header.getBytes(StandardCharsets.US_ASCII), blocks(text.length()) + TAR_BLOCK);
        System.arraycopy(text.getBytes(StandardCharsets.US_ASCII), 0, entry, TAR_BLOCK, text.length());
        return entry;
    }

    private static int blocks(int size) {
        return (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }

    private void write(String path, byte[] content) {
        String base64 = Base64.getEncoder().encodeToString(content);
        Answer written = agent.call(
                "sandbox_write_file",
                Map.of("sandbox", sandbox, "path", path, "encoding", "base64", "content", base64));
        assertThat(written.failed()).as(written.text()).isFalse();
    }

    private Answer install(String language, String... packages) {
        return agent.call(
                "sandbox_install_packages",
                Map.of("sandbox", sandbox, "language", language, "packages", List.of(packages)));
    }

    private Answer run(String language, String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", language, "code", code));
    }

    @Test
    void aWheelIsImportedAtOnceAndAfterAReset() throws IOException {
        assertThat(run("python", "import greet").status()).isEqualTo("error");
        write("made/greet-1.0-py3-none-any.whl", wheel("greet", "1.0"));

        Answer installed = install("python", "made/greet-1.0-py3-none-any.whl");

        assertThat(installed.status()).as(installed.text()).isEqualTo("ok");
        assertThat(installed.number("exit_code")).isZero();
        assertThat(installed.text()).endsWith("\nInstalled made/greet-1.0-py3-none-any.whl.");
        assertThat(installed.stdout()).contains("Successfully installed greet-1.0");
        assertThat(run("python", "import greet; greet.word").result()).isEqualTo("'hello of 1.0'");
        agent.reset(sandbox, "python");
        assertThat(run("python", "import greet; greet.word").result()).isEqualTo("'hello of 1.0'");
    }

    @Test
    void aTarballIsRequiredAtOnceAndAfterAReset() throws IOException {
        assertThat(run("nodejs", "require('greet')").status()).isEqualTo("error");
        write("made/greet-1.0.0.tgz", tarball("greet"));

        Answer installed = install("nodejs", "made/greet-1.0.0.tgz");

        assertThat(installed.status()).as(installed.text()).isEqualTo("ok");
        assertThat(installed.text()).endsWith("\nInstalled made/greet-1.0.0.tgz.");
        assertThat(run("nodejs", "require('greet')").result()).isEqualTo("'hello of node'");
        agent.reset(sandbox, "nodejs");
        assertThat(run("nodejs", "require('greet')").result()).isEqualTo("'hello of node'");
    }

    @Test
    void aSpecifierThatIsFulfilledNeedsNoNetworkAndConflictingVersionsAreRefused() throws IOException {
        write("made/torn-1.0-py3-none-any.whl", wheel("torn", "1.0"));
        write("made/torn-2.0-py3-none-any.whl", wheel("torn", "2.0"));

        Answer both = install("python", "made/torn-1.0-py3-none-any.whl", "made/torn-2.0-py3-none-any.whl");
        assertThat(both.status()).isEqualTo("error");
        assertThat(both.text()).containsIgnoringCase("conflict").doesNotContain("allowed_domains");

        assertThat(install("python", "made/torn-2.0-py3-none-any.whl").status()).isEqualTo("ok");
        Answer fulfilled = install("python", "torn >= 1.5");
        assertThat(fulfilled.status()).as(fulfilled.text()).isEqualTo("ok");
    }

    @ParameterizedTest
    @CsvSource({"python, sandglass-e2e-of-no-index", "nodejs, sandglass-e2e-of-no-registry"})
    void withoutNetworkTheAnswerNamesTheFieldThatOpensIt(String language, String name) {
        long begun = System.nanoTime();
        Answer refused = install(language, name);

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(AT_ONCE);
        assertThat(refused.status()).as(refused.text()).isEqualTo("error");
        assertThat(refused.text())
                .endsWith("\nCould not install " + name + ".")
                .containsPattern("This sandbox has no network to '[a-z0-9.-]+\\.[a-z]+'")
                .contains("'allowed_domains' of sandbox_start's 'config'", "spec.allowedDomains");
    }

    @Test
    void theOutputOfTheInstallerIsStreamed() throws IOException {
        write("made/streamed-1.0-py3-none-any.whl", wheel("streamed", "1.0"));

        StreamedCall call = agent.stream(
                "sandbox_install_packages",
                Map.of("sandbox", sandbox, "packages", List.of("made/streamed-1.0-py3-none-any.whl")));

        call.awaitOutput("Successfully installed streamed-1.0");
        assertThat(call.answer().status()).isEqualTo("ok");
    }

    @Test
    void codeAndCommandsInstallToo() throws IOException {
        write("made/magic-1.0-py3-none-any.whl", wheel("magic", "1.0"));
        write("made/banged-1.0.0.tgz", tarball("banged"));
        write("made/ordered-1.0-py3-none-any.whl", wheel("ordered", "1.0"));

        run("python", "%pip install made/magic-1.0-py3-none-any.whl");
        run("python", "!npm install ./made/banged-1.0.0.tgz");
        agent.command(sandbox, "pip", "install", "made/ordered-1.0-py3-none-any.whl");

        assertThat(run("python", "import magic, ordered; magic.word + ordered.word")
                        .result())
                .isEqualTo("'hello of 1.0hello of 1.0'");
        assertThat(run("nodejs", "require('banged')").result()).isEqualTo("'hello of node'");
    }

    @Test
    void anotherVersionTakesThePlaceAndIsListedAndRemoved() throws IOException {
        for (String version : List.of("1.0", "2.0", "1.0")) {
            write("made/turned-" + version + "-py3-none-any.whl", wheel("turned", version));
            Answer installed = install("python", "made/turned-" + version + "-py3-none-any.whl");
            assertThat(installed.stdout()).as(installed.text()).contains("Successfully installed turned-" + version);
            assertThat(agent.command(sandbox, "pip", "list").stdout()).containsPattern("turned +" + version + "\n");
        }
        assertThat(agent.command(sandbox, "pip", "list").stdout()).contains("pandas ", "ipykernel ");

        Answer removed = agent.command(sandbox, "pip", "uninstall", "--yes", "turned");

        assertThat(removed.stdout()).contains("Successfully uninstalled turned-1.0");
        assertThat(agent.command(sandbox, "python3", "-c", "import turned").stderr())
                .contains("No module named 'turned'");
    }

    @Test
    void environmentsOfTheCodeTakePackages() throws IOException {
        write("made/inner-1.0-py3-none-any.whl", wheel("inner", "1.0"));

        Answer installed = agent.command(
                sandbox,
                "sh",
                "-c",
                "python3 -m venv /tmp/env && /tmp/env/bin/pip install made/inner-1.0-py3-none-any.whl");

        assertThat(installed.stdout()).as(installed.text()).contains("Successfully installed inner-1.0");
        assertThat(agent.command(sandbox, "/tmp/env/bin/python", "-c", "import inner; print(inner.word)")
                        .stdout())
                .isEqualTo("hello of 1.0\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-r made/list.txt", "--index-url=https://example.com/simple", "a; rm -rf", "a\nb", ""})
    void whatIsNoPackageIsRefused(String text) {
        assertThat(agent.refusal(
                        "sandbox_install_packages", Map.of("sandbox", sandbox, "packages", List.of("a", text))))
                .contains("'packages[1]'");
    }
}
