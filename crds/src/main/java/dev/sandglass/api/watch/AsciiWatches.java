package dev.sandglass.api.watch;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Hands the client what watches over HTTP send in ASCII, which is all that it reads rightly: it takes each chunk for a text of its own,
 * and behind one with other characters come as many NULs as it had bytes more than characters (ADR 0020).
 */
public final class AsciiWatches implements Interceptor {

    /** The name to add it by. */
    public static final String NAME = "sandglass-ascii-watches";

    @Override
    public AsyncBody.Consumer<List<ByteBuffer>> consumer(
            AsyncBody.Consumer<List<ByteBuffer>> consumer, HttpRequest request) {
        if (!watches(request.uri())) {
            return consumer;
        }
        AsciiJson json = new AsciiJson();
        return (chunks, body) ->
                consumer.consume(chunks.stream().map(json::escape).toList(), body);
    }

    private static boolean watches(URI uri) {
        return uri.getRawQuery() != null
                && Arrays.asList(uri.getRawQuery().split("&")).contains("watch=true");
    }
}
