package dev.sandglass.gateway.execution;

import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** One real supervisor with its kernel, and two replicas that use it. */
class LiveSandbox {

    /** Python that waits until a file is there; its name is to be filled in. */
    static final String UNTIL_FILE = "import os, time\nwhile not os.path.exists('%s'): time.sleep(0.005)\n";

    static SupervisorProcess supervisor;
    static Replica one;
    static Replica two;
    static RunningSandbox sandbox;

    @BeforeAll
    static void start() {
        supervisor = SupervisorProcess.start();
        sandbox = supervisor.sandbox();
        one = new Replica();
        two = new Replica();
        one.executions.awaitKernel(sandbox).block(Replica.LONG);
    }

    @AfterAll
    static void stop() {
        one.close();
        two.close();
        supervisor.close();
    }

    /** Makes the file that code waits for. */
    static void touch(String name) {
        try {
            Files.writeString(supervisor.workspace().resolve(name), "");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Begins to run code, and returns when it runs. */
    static CompletableFuture<ExecutionResult> beginAndHear(String code) {
        return beginAndHear(one, "print('begun', flush=True)\n" + code);
    }

    /** The same at another replica, of code that prints something first. */
    static CompletableFuture<ExecutionResult> beginAndHear(Replica where, String code) {
        AtomicBoolean heard = new AtomicBoolean();
        CompletableFuture<ExecutionResult> result = where.executions
                .run(sandbox, Replica.code(code, Replica.PATIENT), (_, _) -> {
                    heard.set(true);
                    return OutputListener.CONSUMED;
                })
                .toFuture();
        await().atMost(Replica.LONG).until(heard::get);
        return result;
    }
}
