package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JavaScript in a sandbox, as an agent sees it: the same calls, the same outcomes, sessions of its own. */
class NodeE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    /** Of the test before, which may have failed while its code ran, nothing is left but files. */
    @BeforeEach
    void freshVariables() {
        agent.reset(sandbox, "nodejs");
    }

    private Answer node(String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", "nodejs", "code", code));
    }

    @Test
    void stateIsKeptBetweenCallsAndApartFromPythons() {
        agent.python(sandbox, "radius = 5");

        assertThat(node("const radius = 2; const area = r => Math.PI * r ** 2").status())
                .isEqualTo("ok");
        assertThat(node("area(radius).toFixed(3)").result()).isEqualTo("'12.566'");
        assertThat(agent.python(sandbox, "radius").result()).isEqualTo("5");
    }

    @Test
    void theOtherNamesOfTheLanguageMeanTheSameKernel() {
        node("var shared = 'seen'");

        for (String name : List.of("node", "javascript")) {
            Answer answer =
                    agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", name, "code", "shared"));
            assertThat(answer.result()).isEqualTo("'seen'");
        }
    }

    @Test
    void awaitImportAndFilesWork() {
        Answer answer = node("""
                import { writeFile, readFile } from 'node:fs/promises';
                await writeFile('/workspace/note.txt', 'of node');
                console.log(await readFile('note.txt', 'utf8'));
                console.error('aside');
                process.version.startsWith('v') && Number(process.versions.node.split('.')[0]) >= 24
                """);

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        assertThat(answer.stdout()).isEqualTo("of node\n");
        assertThat(answer.stderr()).isEqualTo("aside\n");
        assertThat(answer.result()).isEqualTo("true");
        assertThat(agent.command(sandbox, "cat", "/workspace/note.txt").stdout())
                .isEqualTo("of node");
    }

    @Test
    void theTextOfAFunctionRunsInAWorker() {
        Answer answer = node("""
                const { Worker } = require('node:worker_threads');
                const f = async (n) => { const { sep } = await import('node:path'); return sep + await n };
                const text = `(${f})(1).then((v) => require('node:worker_threads').parentPort.postMessage(v))`;
                console.log(String(f));
                await new Promise((done, fail) => {
                  const worker = new Worker(text, { eval: true });
                  worker.on('message', done).on('error', fail);
                })
                """);

        assertThat(answer.result()).as(answer.text()).isEqualTo("'/1'");
        assertThat(answer.stdout())
                .isEqualTo("async (n) => { const { sep } = await import('node:path'); return sep + await n }\n");
    }

    @Test
    void anExceptionIsAnErrorWithTheLineItCameFrom() {
        Answer answer = node("function half(n) {\n  return n.parts.length / 2;\n}\nhalf(3);");

        assertThat(answer.status()).isEqualTo("error");
        assertThat(answer.object("error").get("name")).isEqualTo("TypeError");
        assertThat(answer.object("error").get("traceback"))
                .asString()
                .contains("return n.parts.length", "at half (cell-")
                .doesNotContain("node:internal", "sandglass_supervisor");
    }

    @Test
    void interruptEndsABusyLoopAndKeepsVariables() {
        node("let kept = 1");
        StreamedCall endless = agent.stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "language", "nodejs", "code", "console.log('on'); while (true) {}"));
        endless.awaitOutput("on\n");

        Answer interrupted = agent.call("sandbox_interrupt", Map.of("sandbox", sandbox, "language", "nodejs"));

        assertThat(interrupted.status()).isEqualTo("interrupted");
        assertThat(endless.answer().status()).isEqualTo("interrupted");
        assertThat(node("kept").result()).isEqualTo("1");
    }

    @Test
    void timeOutAndExitKeepTheKernel() {
        node("let kept = 1");

        Answer late = agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "language", "nodejs", "code", "for (;;);", "timeout", 1));
        assertThat(late.status()).isEqualTo("timeout");
        assertThat(node("kept").result()).isEqualTo("1");

        assertThat(node("process.exit(3)").status()).isEqualTo("error");
        assertThat(node("process.exit()").status()).isEqualTo("ok");
        assertThat(node("kept").result()).isEqualTo("1");
    }

    @Test
    void aPictureComesAsAPicture() {
        String png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

        Answer answer = node("display('image/png', Buffer.from('%s', 'base64'))".formatted(png));

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        assertThat(answer.list("images")).hasSize(1);
    }

    @Test
    void npmInstallsIntoTheWorkspaceOfAReadOnlyRoot() {
        // A package made here: the sandbox has no network.
        agent.command(sandbox, "mkdir", "-p", "/workspace/made/greet");
        node("""
                const fs = require('fs');
                fs.writeFileSync('made/greet/package.json', '{"name":"greet","version":"1.0.0"}');
                fs.writeFileSync('made/greet/index.js', 'module.exports = () => "hello of a package"');
                """);

        Answer packed = agent.command(sandbox, "npm", "pack", "./made/greet", "--pack-destination", "made");
        assertThat(packed.data().get("exit_code")).as(packed.text()).isEqualTo(0);
        Answer installed = agent.command(sandbox, "npm", "install", "--offline", "./made/greet-1.0.0.tgz");
        assertThat(installed.data().get("exit_code")).as(installed.text()).isEqualTo(0);

        assertThat(node("require('greet')()").result()).isEqualTo("'hello of a package'");
    }
}
