package dev.sandglass.gateway.training;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;

/** The calls, each of which must be answered as it would be in a cluster: a cache of errors would go unnoticed. */
public final class Training {

    /** So many that the virtual machine compiles for good what every call needs. */
    public static final int ROUNDS = 1_500;

    private static final String EXECUTION_ID =
            "default." + StandInSandboxes.UID + "." + StandInSandboxes.INCARNATION + ".aaaaaaaaaaaaaaaa";
    private static final String BOX = "\"sandbox\":\"" + StandInSandboxes.NAME + "\"";
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
            new Call(tool("sandbox_start", BOX), "\"status\":\"running\""),
            new Call(tool("sandbox_start", BOX + ",\"config\":{\"memory\":0}"), REFUSED),
            new Call(tool("sandbox_run_code", "\"sandbox\":\"none\",\"code\":\"1+1\""), REFUSED),
            new Call(tool("sandbox_install_packages", BOX + ",\"packages\":[\"a>=1\"]"), ENDED_WELL),
            new Call(tool("sandbox_get_execution", "\"execution_id\":\"" + EXECUTION_ID + "\""), ENDED_WELL),
            new Call(tool("sandbox_get_metrics", "\"namespace\":\"*\""), "\"memory_usage\":100.0"),
            new Call(tool("sandbox_write_file", BOX + ",\"path\":\"a\",\"content\":\"hello\""), "\"bytes\":5"),
            new Call(tool("sandbox_read_file", BOX + ",\"path\":\"a\""), "\"encoding\":\"text\""),
            new Call(tool("sandbox_stop", BOX), "\"status\":\"stopped\""));

    private Training() {}

    /** A message to the endpoint, and what its answer must contain. */
    private record Call(String body, String expected) {}

    /**
     * Makes the calls of all tools, those that run something so many times, and the others now and then.
     *
     * @param port of the endpoint on this machine
     * @throws IllegalStateException if one is answered otherwise than expected
     */
    public static void run(int port, int rounds) {
        URI endpoint = URI.create("http://127.0.0.1:" + port + "/mcp");
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
