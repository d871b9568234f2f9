package dev.sandglass.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Some calls to ourselves, so that the virtual machine sees the code of a request and can store it in the image's AOT
 * cache (JEP 514, 515). Ends the process, with an error if a call is not answered.
 */
final class Training {

    private static final int ROUNDS = 100;
    private static final List<String> CALLS = List.of(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
            call("sandbox_run_code", "\"sandbox\":\"none\",\"code\":\"1+1\",\"envs\":{\"A\":\"b\"},\"timeout\":5"),
            call("sandbox_run_command", "\"sandbox\":\"none\",\"command\":\"ls\",\"args\":[\"-l\"]"),
            call("sandbox_get_metrics", "\"namespace\":\"*\""),
            call("sandbox_start", "\"sandbox\":\"none\",\"config\":{\"memory\":0}"));

    private Training() {}

    static void run(ConfigurableApplicationContext running) {
        int port = running.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        URI endpoint = URI.create("http://127.0.0.1:" + port + "/mcp");
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int round = 0; round < ROUNDS; round++) {
                for (String call : CALLS) {
                    answered(client, endpoint, call);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Training was interrupted", e);
        }
        System.exit(SpringApplication.exit(running));
    }

    private static void answered(HttpClient client, URI endpoint, String call)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(endpoint)
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(call))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200 || !response.body().contains("\"result\"")) {
            throw new IllegalStateException("Training failed with status " + response.statusCode());
        }
    }

    /** With a progress token, so that the stream of events is seen as well. */
    private static String call(String tool, String arguments) {
        return """
                {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"%s","arguments":{%s},\
                "_meta":{"progressToken":3}}}""".formatted(tool, arguments);
    }
}
