package dev.sandglass.testing;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A program of ours that learns what its image's AOT cache keeps. It is a process of its own, exactly as it is shipped: what
 * makes it work stands beside it and leaves nothing in it.
 */
public final class TrainedProgram implements AutoCloseable {

    private static final Duration START = Duration.ofMinutes(3);

    /** Making the cache is part of it. */
    private static final Duration END = Duration.ofMinutes(5);

    private static final Duration PAUSE = Duration.ofMillis(50);

    /** Of a Java program that SIGTERM ended in good order. */
    private static final int ENDED_BY_SIGTERM = 128 + 15;

    private final Process process;

    private TrainedProgram(Process process) {
        this.process = process;
    }

    /**
     * Starts it.
     *
     * @param command the program and its arguments
     * @param environment what it finds beside the variables of this process
     */
    public static TrainedProgram start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().putAll(environment);
        return new TrainedProgram(builder.start());
    }

    /**
     * A port that no process of this machine has: the builder may share the machine's network. It is none of those that
     * Linux gives to whoever asks for any, so that nobody is given it before it is used.
     */
    public static int freePort() throws IOException {
        for (int attempt = 0; attempt < 100; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 30_000);
            try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return port;
            } catch (BindException taken) {
                // Another one, then.
            }
        }
        throw new IOException("No port between 20000 and 30000 is free");
    }

    /**
     * Asks a page of the program until the answer is 200.
     *
     * @throws IOException if it is not within three minutes, or the program has ended
     */
    public void awaitOk(HttpClient client, URI page) throws IOException, InterruptedException {
        long end = System.nanoTime() + START.toNanos();
        while (!isOk(client, page)) {
            if (!process.isAlive()) {
                throw new IOException("The program ended with exit code " + process.exitValue());
            }
            if (System.nanoTime() > end) {
                throw new IOException(page + " did not answer 200 within " + START);
            }
            Thread.sleep(PAUSE);
        }
    }

    private static boolean isOk(HttpClient client, URI page) throws InterruptedException {
        try {
            HttpRequest request = HttpRequest.newBuilder(page).timeout(START).build();
            return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException notYet) {
            return false;
        }
    }

    /**
     * Ends it as Kubernetes does, with SIGTERM, upon which the virtual machine writes the cache.
     *
     * @throws IOException if it ends otherwise, or not within five minutes
     */
    public void end() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
            throw new IOException("The program did not end within " + END);
        }
        if (process.exitValue() != ENDED_BY_SIGTERM) {
            throw new IOException("The program ended with exit code " + process.exitValue());
        }
    }

    /** Kills it if it has not ended: then something failed, and no cache is made. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
