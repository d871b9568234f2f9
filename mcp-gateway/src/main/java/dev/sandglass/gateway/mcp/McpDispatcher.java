package dev.sandglass.gateway.mcp;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Prompt;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** From a method's name to its result: the protocol in one switch. */
final class McpDispatcher {

    /** The lists never change while a replica runs, and are the same for every caller. */
    private static final long LIST_TTL_MS = 300_000;

    private static final String PUBLIC = "public";
    private final String version;
    private final AuditLog audit;
    private final ResourceMethods resources;

    /**
     * Serves whatever contract a request asks.
     *
     * @param version of this gateway, for clients
     */
    McpDispatcher(String version, AuditLog audit) {
        this.version = version;
        this.audit = audit;
        this.resources = new ResourceMethods(audit);
    }

    /**
     * Serves a request. Errors with {@link McpError} for whatever the protocol forbids; cancelling gives up the call.
     */
    Mono<Object> dispatch(McpRequest.Call call) {
        McpRequest request = call.request();
        return switch (request.method()) {
            case "tools/call" -> callTool(call);
            case "tools/list" -> Mono.just(listTools(request));
            case "prompts/list" -> Mono.just(listPrompts(withPrompts(request)));
            case "prompts/get" -> Mono.just(getPrompt(withPrompts(request)));
            case ResourceMethods.LIST -> resources.list(call, meta(request));
            case "resources/templates/list" ->
                Mono.just(resources.templates(request, ttl(request.era()), scope(request.era()), meta(request)));
            case ResourceMethods.READ -> resources.read(call, meta(request));
            case ResourceMethods.COMPLETE -> resources.complete(call, meta(request));
            case "server/discover" -> Mono.just(discover(in(ProtocolRevision.MODERN, request)));
            case "initialize" -> Mono.just(initialize(in(ProtocolRevision.LEGACY, request)));
            case "ping" -> Mono.just(pong(in(ProtocolRevision.LEGACY, request)));
            default -> throw McpError.methodNotFound(request.method(), request.era());
        };
    }

    private Mono<Object> callTool(McpRequest.Call call) {
        McpRequest request = call.request();
        String name = name(request);
        Tool tool = request.offer()
                .tool(name)
                .orElseThrow(() -> McpError.invalidParams("Tool '%s' not found".formatted(McpError.shown(name))));
        ObjectNode arguments = tool.understood(arguments(request));
        Arguments given = Arguments.of(arguments, request.client().patience());
        AuditLog.Entry entry = audit.begin(request, tool, arguments);
        var toolCall = new ToolCall(
                request.caller(),
                given,
                entry.hearing(call.progress()),
                request.client().session());
        return Mono.defer(() -> {
                    toolCall.arguments().refuseOthersThan(tool.knownArguments());
                    return tool.call(toolCall);
                })
                .publishOn(call.thread())
                .onErrorResume(McpDispatcher::isForTheModel, problem -> Mono.just(tool.refused(problem)))
                // Queued behind the answer: whoever asked need not wait for our log.
                .doOnNext(result -> call.thread().schedule(() -> entry.answered(result)))
                .doOnError(entry::failed)
                .doOnCancel(entry::cancelled)
                .map(result -> render(result, request));
    }

    private static boolean isForTheModel(Throwable problem) {
        return problem instanceof InvalidArgument
                || problem instanceof SandboxProblem
                || problem instanceof InvalidNameException;
    }

    private Results.ToolAnswer render(ToolResult result, McpRequest request) {
        boolean structured = request.offer().structured();
        List<Results.ContentPart> content = result.content().stream()
                .map(part -> switch (part) {
                    case ToolResult.Content.Text(String text) -> Results.ContentPart.text(text);
                    case ToolResult.Content.LongText(Supplier<String> text, String brief) ->
                        Results.ContentPart.text(structured ? brief : text.get());
                    case ToolResult.Content.Image(String mimeType, String data) ->
                        Results.ContentPart.image(data, mimeType);
                })
                .toList();
        return new Results.ToolAnswer(
                request.era().resultType(),
                content,
                structured ? result.structuredContent() : null,
                result.isError(),
                meta(request));
    }

    private Results.ToolList listTools(McpRequest request) {
        ProtocolRevision era = request.era();
        List<Results.ListedTool> tools = request.offer().tools().stream()
                .map(Tool::definition)
                .map(tool -> Results.ListedTool.of(tool, request.offer().structured()))
                .toList();
        return new Results.ToolList(era.resultType(), tools, ttl(era), scope(era), meta(request));
    }

    /** A contract that declares no prompts has none of their methods. */
    private static McpRequest withPrompts(McpRequest request) {
        if (request.offer().prompts().isEmpty()) {
            throw McpError.methodNotFound(request.method(), request.era());
        }
        return request;
    }

    private Results.PromptList listPrompts(McpRequest request) {
        ProtocolRevision era = request.era();
        List<Results.ListedPrompt> prompts =
                request.offer().prompts().stream().map(Results.ListedPrompt::of).toList();
        return new Results.PromptList(era.resultType(), prompts, ttl(era), scope(era), meta(request));
    }

    private Results.PromptAnswer getPrompt(McpRequest request) {
        String name = name(request);
        Prompt prompt = request.offer()
                .prompt(name)
                .orElseThrow(() -> McpError.invalidParams("Prompt '%s' not found".formatted(McpError.shown(name))));
        Results.ContentPart text = Results.ContentPart.text(text(prompt, arguments(request)));
        return new Results.PromptAnswer(
                request.era().resultType(),
                prompt.description(),
                List.of(new Results.PromptMessage("user", text)),
                meta(request));
    }

    private static String text(Prompt prompt, ObjectNode arguments) {
        try {
            return prompt.text(arguments);
        } catch (InvalidArgument broken) {
            throw McpError.invalidParams(broken.text());
        }
    }

    private Results.Discovered discover(McpRequest request) {
        ProtocolRevision era = request.era();
        return new Results.Discovered(
                era.resultType(),
                ProtocolRevision.ALL_VERSIONS,
                Results.Capabilities.of(request.offer()),
                request.offer().instructions(),
                ttl(era),
                scope(era),
                meta(request));
    }

    /** The version asked for if it is known, else our newest: the client decides (2025-11-25, lifecycle). */
    private Results.Initialized initialize(McpRequest request) {
        String asked = request.params().path("protocolVersion").asString("");
        String revision =
                ProtocolRevision.LEGACY_VERSIONS.contains(asked) ? asked : ProtocolRevision.NEWEST_LEGACY_VERSION;
        return new Results.Initialized(
                revision,
                Results.Capabilities.of(request.offer()),
                serverInfo(request.offer()),
                request.offer().instructions());
    }

    private static Results.Pong pong(McpRequest ignored) {
        return new Results.Pong();
    }

    private static McpRequest in(ProtocolRevision era, McpRequest request) {
        if (request.era() != era) {
            throw McpError.methodNotFound(request.method(), request.era());
        }
        return request;
    }

    private static String name(McpRequest request) {
        JsonNode name = request.params().path("name");
        if (!name.isString()) {
            throw McpError.invalidParams("Missing required 'name' parameter");
        }
        return name.asString();
    }

    private static ObjectNode arguments(McpRequest request) {
        JsonNode arguments = request.params().path("arguments");
        if (arguments.isMissingNode() || arguments.isNull()) {
            return JsonNodeFactory.instance.objectNode();
        }
        if (arguments instanceof ObjectNode object) {
            return object;
        }
        throw McpError.invalidParams("'arguments' must be an object");
    }

    private static @Nullable Long ttl(ProtocolRevision era) {
        return era == ProtocolRevision.MODERN ? LIST_TTL_MS : null;
    }

    private static @Nullable String scope(ProtocolRevision era) {
        return era == ProtocolRevision.MODERN ? PUBLIC : null;
    }

    private Results.@Nullable Meta meta(McpRequest request) {
        return request.era() == ProtocolRevision.MODERN ? new Results.Meta(serverInfo(request.offer())) : null;
    }

    private Results.Implementation serverInfo(Offer offer) {
        return new Results.Implementation(offer.serverName(), offer.serverTitle(), version);
    }
}
