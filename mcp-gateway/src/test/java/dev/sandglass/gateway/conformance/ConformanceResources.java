package dev.sandglass.gateway.conformance;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.ResourceProblem;
import dev.sandglass.gateway.contract.Resources;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/** The resources that the suite reads. */
final class ConformanceResources implements Resources {

    private static final String TEXT = "test://static-text";
    private static final String BINARY = "test://static-binary";
    private static final Pattern FILLED_IN = Pattern.compile("test://template/([0-9]{1,9})/data");
    private static final Instant CHANGED = Instant.parse("2026-01-01T00:00:00Z");

    @Override
    public List<Template> templates() {
        return List.of(new Template("test://template/{id}/data", "template", "Template", "Data of an id."));
    }

    @Override
    public Mono<Page> list(Caller caller, Optional<String> cursor) {
        return Mono.just(new Page(
                List.of(
                        new Listed(TEXT, "static-text", "Text", "text/plain", null, CHANGED),
                        new Listed(BINARY, "static-binary", "Picture", "image/png", null, CHANGED)),
                Optional.empty()));
    }

    @Override
    public Optional<Subject> subject(String uri) {
        return Optional.empty();
    }

    @Override
    public Mono<Content> read(Request request) {
        return switch (request.uri()) {
            case TEXT -> Mono.just(new Content.Text("text/plain", "This is the content of the static text resource."));
            case BINARY -> Mono.just(new Content.Blob("image/png", ConformanceContract.PICTURE));
            default -> filledIn(request.uri());
        };
    }

    private static Mono<Content> filledIn(String uri) {
        Matcher filled = FILLED_IN.matcher(uri);
        if (!filled.matches()) {
            return Mono.error(ResourceProblem.unknown("Resource not found"));
        }
        String id = filled.group(1);
        return Mono.just(new Content.Text(
                "application/json",
                "{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}".formatted(id, id)));
    }
}
