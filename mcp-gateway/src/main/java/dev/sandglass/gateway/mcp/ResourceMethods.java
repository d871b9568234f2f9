package dev.sandglass.gateway.mcp;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.contract.Completions;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ResourceProblem;
import dev.sandglass.gateway.contract.Resources;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The methods about resources, and completion. A contract that offers neither has none of these methods. */
final class ResourceMethods {

    // Names of methods that stand in audit lines and metrics where a tool's does.
    static final String LIST = "resources/list";
    static final String READ = "resources/read";
    static final String COMPLETE = "completion/complete";

    private static final int MAX_ARGUMENTS = 16;
    private static final int MAX_NAME_CHARS = 1000;
    private static final int MAX_VALUE_CHARS = 16 * 1024;

    /** Files change at any time, so that a client asks anew. */
    private static final long STALE_AT_ONCE = 0;

    private static final String PRIVATE = "private";

    private final AuditLog audit;

    ResourceMethods(AuditLog audit) {
        this.audit = audit;
    }

    /** {@code resources/list}. */
    Mono<Object> list(McpRequest.Call call, Results.@Nullable Meta meta) {
        McpRequest request = call.request();
        ProtocolRevision era = request.era();
        Optional<String> cursor = optional(request.params().path("cursor"), "cursor", MAX_VALUE_CHARS);
        Resources resources = resources(request);
        return audited(call, LIST, nothing(), () -> resources.list(request.caller(), cursor))
                .map(page -> new ResourceResults.ResourceList(
                        era.resultType(),
                        page.resources().stream()
                                .map(ResourceResults.ListedResource::of)
                                .toList(),
                        page.nextCursor().orElse(null),
                        ttl(era),
                        scope(era),
                        meta));
    }

    /** {@code resources/templates/list}: one page, the same for every caller as tools are. */
    ResourceResults.TemplateList templates(
            McpRequest request, @Nullable Long ttl, @Nullable String scope, Results.@Nullable Meta meta) {
        List<Resources.Template> templates = resources(request).templates();
        if (optional(request.params().path("cursor"), "cursor", MAX_VALUE_CHARS).isPresent()) {
            throw McpError.invalidParams("'cursor' must be left out: resources/templates/list has one page");
        }
        return new ResourceResults.TemplateList(request.era().resultType(), templates, ttl, scope, meta);
    }

    /** {@code resources/read}. */
    Mono<Object> read(McpRequest.Call call, Results.@Nullable Meta meta) {
        McpRequest request = call.request();
        Resources resources = resources(request);
        String uri = text(request.params().path("uri"), "uri", MAX_VALUE_CHARS);
        ProtocolRevision era = request.era();
        var reading =
                new Resources.Request(request.caller(), uri, request.client().patience(), call.progress());
        return audited(call, READ, subject(resources, uri), () -> resources.read(reading))
                .map(content -> new ResourceResults.ReadAnswer(
                        era.resultType(),
                        List.of(ResourceResults.Contents.of(uri, content)),
                        ttl(era),
                        scope(era),
                        meta));
    }

    /** What the audit log tells of it: the same fields as of a file tool. */
    private static ObjectNode subject(Resources resources, String uri) {
        ObjectNode fields = nothing();
        resources.subject(uri).ifPresent(subject -> fields.put("namespace", subject.namespace())
                .put("sandbox", subject.sandbox())
                .put("path", subject.path()));
        return fields;
    }

    /** {@code completion/complete}. */
    Mono<Object> complete(McpRequest.Call call, Results.@Nullable Meta meta) {
        McpRequest request = call.request();
        Completions completions = request.offer()
                .completions()
                .orElseThrow(() -> McpError.methodNotFound(request.method(), request.era()));
        ObjectNode params = request.params();
        var question = new Completions.Question(
                reference(params.path("ref")),
                text(params.path("argument").path("name"), "argument.name", MAX_NAME_CHARS),
                text(params.path("argument").path("value"), "argument.value", MAX_VALUE_CHARS),
                others(params.path("context").path("arguments")));
        return audited(call, COMPLETE, subject(question), () -> completions.complete(request.caller(), question))
                .map(values -> new ResourceResults.CompletionAnswer(
                        request.era().resultType(), ResourceResults.Completion.of(values), meta));
    }

    /** Where it looks, if that is one sandbox; what was typed so far is not written. */
    private static ObjectNode subject(Completions.Question question) {
        ObjectNode fields = nothing();
        for (String name : List.of("namespace", "sandbox")) {
            Optional.ofNullable(question.others().get(name)).ifPresent(value -> fields.put(name, value));
        }
        return fields;
    }

    private static ObjectNode nothing() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Does it on the thread of the answer, with one line in the audit log, which the answer does not wait for. */
    private <T> Mono<T> audited(McpRequest.Call call, String method, ObjectNode fields, Supplier<Mono<T>> work) {
        AuditLog.Entry entry = audit.begin(call.request(), method, fields);
        return Mono.defer(work)
                .publishOn(call.thread())
                .onErrorMap(problem -> known(problem, call.request()))
                .doOnNext(_ -> call.thread().schedule(() -> entry.ended("ok")))
                .doOnError(problem -> {
                    if (problem instanceof McpError) {
                        entry.ended("refused");
                    } else {
                        entry.failed(problem);
                    }
                })
                .doOnCancel(entry::cancelled);
    }

    private static Completions.Reference reference(JsonNode ref) {
        return switch (ref.path("type").asString("")) {
            case "ref/prompt" -> new Completions.Reference.ToPrompt(text(ref.path("name"), "ref.name", MAX_NAME_CHARS));
            case "ref/resource" ->
                new Completions.Reference.ToTemplate(text(ref.path("uri"), "ref.uri", MAX_VALUE_CHARS));
            default -> throw McpError.invalidParams("'ref.type' must be 'ref/prompt' or 'ref/resource'");
        };
    }

    private static Map<String, String> others(JsonNode arguments) {
        if (arguments.isMissingNode() || arguments.isNull()) {
            return Map.of();
        }
        if (!arguments.isObject() || arguments.size() > MAX_ARGUMENTS) {
            throw McpError.invalidParams(
                    "'context.arguments' must be an object of at most %d texts".formatted(MAX_ARGUMENTS));
        }
        Map<String, String> others = new HashMap<>();
        arguments
                .properties()
                .forEach(
                        each -> others.put(each.getKey(), text(each.getValue(), "context.arguments", MAX_VALUE_CHARS)));
        return others;
    }

    private static Resources resources(McpRequest request) {
        return request.offer().resources().orElseThrow(() -> McpError.methodNotFound(request.method(), request.era()));
    }

    private static Optional<String> optional(JsonNode value, String field, int maxChars) {
        return value.isMissingNode() || value.isNull() ? Optional.empty() : Optional.of(text(value, field, maxChars));
    }

    private static String text(JsonNode value, String field, int maxChars) {
        if (value.isMissingNode()) {
            throw McpError.invalidParams("Missing required '%s' parameter".formatted(field));
        }
        if (!value.isString() || value.asString().length() > maxChars) {
            throw McpError.invalidParams("'%s' must be a text of at most %d characters".formatted(field, maxChars));
        }
        return value.asString();
    }

    /** What the caller is told of; any other problem is a fault of ours. */
    private static Throwable known(Throwable problem, McpRequest request) {
        return switch (problem) {
            case ResourceProblem known ->
                switch (known.kind()) {
                    case UNKNOWN -> McpError.unknownResource(known.text(), uri(request), request.era());
                    case UNAVAILABLE -> McpError.unavailable(known.text());
                };
            case InvalidArgument broken -> McpError.invalidParams(broken.text());
            case InvalidNameException broken -> McpError.invalidParams(String.valueOf(broken.getMessage()));
            default -> problem;
        };
    }

    private static String uri(McpRequest request) {
        return request.params().path("uri").asString("");
    }

    private static @Nullable Long ttl(ProtocolRevision era) {
        return era == ProtocolRevision.MODERN ? STALE_AT_ONCE : null;
    }

    private static @Nullable String scope(ProtocolRevision era) {
        return era == ProtocolRevision.MODERN ? PRIVATE : null;
    }
}
