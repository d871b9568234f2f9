package dev.sandglass.gateway.training;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.testing.StandInApi;
import dev.sandglass.testing.TrainedProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Calls of the gateway before stand-ins for the API server and a sandbox, from which the virtual machine learns what the
 * image's AOT cache keeps (JEP 514, 515). The build of the image runs this beside the gateway. Each call must be answered as
 * it would be in a cluster: a cache of errors would go unnoticed.
 */
public final class Training {

    static final String UID = "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80";
    static final int INCARNATION = 1;

    /** So many that the virtual machine compiles for good what every call needs. */
    private static final int ROUNDS = 1_500;

    private static final String NAME = "training";

    private static final String SANDBOX = """
            {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "training",
             "namespace": "sandglass-default", "uid": "%s", "generation": 1, "resourceVersion": "1",
             "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}, "status": {"observedGeneration": 1,
             "incarnation": %d, "address": "%s", "conditions": [{"type": "Ready", "status": "True",
             "reason": "Running", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
            """;

    private static final String EXECUTION_ID = "default." + UID + "." + INCARNATION + ".aaaaaaaaaaaaaaaa";
    private static final String BOX = "\"sandbox\":\"" + NAME + "\"";
    private static final String CODE = BOX + ",\"code\":\"print('hello')\\n1+1\"";
    private static final String ENDED_WELL = "\"status\":\"ok\"";
    private static final String REFUSED = "\"isError\":true";
    private static final int SELDOM_MEANS_EVERY = 10;

    private static final List<Call> OFTEN = List.of(
            new Call(tool("sandbox_run_code", CODE + ",\"envs\":{\"A\":\"b\"},\"timeout\":5"), ENDED_WELL),
            new Call(withProgress(tool("sandbox_run_code", CODE)), ENDED_WELL),
            new Call(tool("sandbox_run_command", BOX + ",\"command\":\"ls\",\"args\":[\"-l\"]"), ENDED_WELL));

    private static final List<Call> SELDOM = List.of(
            new Call(method("initialize", "{\"protocolVersion\":\"2025-11-25\"}"), "\"serverInfo\""),
            new Call(method("ping", "{}"), "\"result\""),
            new Call(method("tools/list", "{}"), "\"tools\""),
            new Call(tool("sandbox_stop", BOX), "\"status\":\"stopped\""),
            new Call(tool("sandbox_start", BOX), "\"status\":\"running\""),
            new Call(tool("sandbox_start", BOX + ",\"config\":{\"memory\":0}"), REFUSED),
            new Call(tool("sandbox_install_packages", BOX + ",\"packages\":[\"a>=1\"]"), ENDED_WELL),
            new Call(tool("sandbox_get_execution", "\"execution_id\":\"" + EXECUTION_ID + "\""), ENDED_WELL),
            new Call(tool("sandbox_get_metrics", "\"namespace\":\"*\""), "\"memory_usage\":100.0"),
            new Call(tool("sandbox_write_file", BOX + ",\"path\":\"a\",\"content\":\"hello\""), "\"bytes\":5"),
            new Call(tool("sandbox_read_file", BOX + ",\"path\":\"a\""), "\"encoding\":\"text\""));

    private Training() {}

    /** A message to the endpoint, and what its answer must contain. */
    private record Call(String body, String expected) {}

    /**
     * Ends with an exception unless the gateway answers and ends as it should.
     *
     * @param command the gateway's: Java, its options and its main class
     */
    public static void main(String[] command) throws IOException, InterruptedException {
        run(List.of(command), ROUNDS);
    }

    /** Starts the gateway, makes the calls and ends it. */
    public static void run(List<String> command, int rounds) throws IOException, InterruptedException {
        Path secret = Files.writeString(
                Files.createTempFile("training", ".secret"), "nothing but training is done with this");
        int port = TrainedProgram.freePort();
        int management = TrainedProgram.freePort();
        String pod = loopback();
        try (var _ = new StandInSupervisor(LinkSecret.read(secret), pod);
                StandInApi api = new StandInApi().holding(SANDBOX.formatted(UID, INCARNATION, pod));
                TrainedProgram gateway = TrainedProgram.start(command, environment(api, secret, port, management));
                HttpClient http = HttpClient.newHttpClient()) {
            String pages = "http://127.0.0.1:" + management + "/actuator/";
            gateway.awaitOk(http, URI.create(pages + "health/readiness"));
            call(port, rounds);
            gateway.awaitOk(http, URI.create(pages + "prometheus"));
            gateway.end();
        } finally {
            Files.delete(secret);
        }
    }

    /** An address of this machine on which the port of links is free, though it may run another training or a sandbox. */
    private static String loopback() {
        ThreadLocalRandom dice = ThreadLocalRandom.current();
        return "127.%d.%d.%d".formatted(dice.nextInt(1, 255), dice.nextInt(256), dice.nextInt(1, 255));
    }

    private static Map<String, String> environment(StandInApi api, Path secret, int port, int management) {
        Map<String, String> environment = new HashMap<>(api.environment());
        environment.putAll(Map.of(
                "GATEWAY_UNAUTHENTICATED",
                "true",
                "GATEWAY_LINK_SECRET_FILE",
                secret.toString(),
                "SERVER_ADDRESS",
                "127.0.0.1",
                "SERVER_PORT",
                Integer.toString(port),
                "MANAGEMENT_SERVER_ADDRESS",
                "127.0.0.1",
                "MANAGEMENT_SERVER_PORT",
                Integer.toString(management)));
        return environment;
    }

    /**
     * Makes the calls of all tools, those that run something so many times, and the others now and then.
     *
     * @param port of the endpoint on this machine
     * @throws IllegalStateException if one is answered otherwise than expected
     */
    public static void call(int port, int rounds) {
        URI endpoint = URI.create("http://127.0.0.1:" + port + "/mcp?structured=true");
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int round = 0; round < rounds; round++) {
                if (round % SELDOM_MEANS_EVERY == 0) {
                    make(client, endpoint, SELDOM);
                }
                make(client, endpoint, OFTEN);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Training was interrupted", e);
        }
    }

    private static void make(HttpClient client, URI endpoint, List<Call> calls)
            throws IOException, InterruptedException {
        for (Call call : calls) {
            make(client, endpoint, call);
        }
    }

    private static void make(HttpClient client, URI endpoint, Call call) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(endpoint)
                .header("Authorization", "Bearer training")
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(call.body))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200 || !response.body().contains(call.expected)) {
            throw new IllegalStateException("Training expected %s in the answer to %s and got status %d: %s"
                    .formatted(call.expected, call.body, response.statusCode(), response.body()));
        }
    }

    private static String method(String name, String parameters) {
        return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}".formatted(name, parameters);
    }

    private static String tool(String name, String arguments) {
        return method("tools/call", "{\"name\":\"%s\",\"arguments\":{%s}}".formatted(name, arguments));
    }

    /** Such a call is answered by a stream of events. */
    private static String withProgress(String call) {
        return call.replace("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":1},");
    }
}
