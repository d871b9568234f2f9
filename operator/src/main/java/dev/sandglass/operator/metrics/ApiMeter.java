package dev.sandglass.operator.metrics;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts what the operator asks of the API server: {@code sandglass_api_requests_total}, by method, kind and answer. */
public final class ApiMeter implements Interceptor {

    public static final String NAME = "sandglass.api.requests";

    private static final Pattern RESOURCE =
            Pattern.compile("/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/[^/]+)?/([a-z]+)(?:/[^/]+(?:/([a-z]+))?)?");

    private final MeterRegistry registry;

    public ApiMeter(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void after(
            HttpRequest request,
            HttpResponse<?> response,
            AsyncBody.Consumer<java.util.List<java.nio.ByteBuffer>> consumer) {
        registry.counter(
                        NAME,
                        "method",
                        request.method(),
                        "resource",
                        resource(request.uri()),
                        "code",
                        Integer.toString(response.code()))
                .increment();
    }

    static String resource(URI uri) {
        Matcher matcher = RESOURCE.matcher(uri.getPath());
        if (!matcher.matches()) {
            return "other";
        }
        return matcher.group(2) == null ? matcher.group(1) : matcher.group(1) + "/" + matcher.group(2);
    }
}
