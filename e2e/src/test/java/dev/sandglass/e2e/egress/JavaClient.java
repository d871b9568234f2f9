package dev.sandglass.e2e.egress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;

/** A program with Java's own HTTP client, made here for a machine that has a runtime and no compiler. */
final class JavaClient {

    private static final String SOURCE = """
            import java.net.URI;
            import java.net.http.*;

            public class JavaClient {
                public static void main(String[] arguments) throws Exception {
                    try (HttpClient client = HttpClient.newHttpClient()) {
                        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0])).build();
                        System.out.println("status " + client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
                    } catch (java.io.IOException error) {
                        System.out.println("failed " + error);
                    }
                }
            }
            """;

    private JavaClient() {}

    /** The file with its class, in that folder. */
    static Path compiled(Path folder) throws IOException {
        Path source = Files.writeString(folder.resolve("JavaClient.java"), SOURCE);
        int problems =
                ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", folder.toString(), source.toString());
        if (problems != 0) {
            throw new AssertionError("JavaClient does not compile");
        }
        return folder.resolve("JavaClient.class");
    }
}
