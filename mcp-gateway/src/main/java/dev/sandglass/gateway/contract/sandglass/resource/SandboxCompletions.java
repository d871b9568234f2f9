package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.action.Overview;
import dev.sandglass.gateway.action.RunningFolders;
import dev.sandglass.gateway.action.Selection;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Completions;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Prompt;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.FileList;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * Completes namespaces, names of sandboxes, and paths. What a caller may not see is completed as if it were not there: the
 * answer is empty for both.
 */
public final class SandboxCompletions implements Completions {

    private static final String NAMESPACE = "namespace";
    private static final String SANDBOX = "sandbox";
    private static final String SANDBOX_NAME = "sandbox_name";
    private static final String PATH = "path";
    private static final int MOST_SHOWN = 100;

    private final TenantAccess access;
    private final Overview overview;
    private final RunningFolders folders;
    private final List<Prompt> prompts;
    private final ToolSettings settings;

    /** The completions over these use cases, of the arguments of these prompts and of the resource template. */
    public SandboxCompletions(
            TenantAccess access,
            Overview overview,
            RunningFolders folders,
            List<Prompt> prompts,
            ToolSettings settings) {
        this.access = access;
        this.overview = overview;
        this.folders = folders;
        this.prompts = List.copyOf(prompts);
        this.settings = settings;
    }

    @Override
    public Mono<Values> complete(Caller caller, Question question) {
        return Mono.defer(() -> {
            List<String> known = arguments(question.reference());
            String argument = question.argument();
            if (!known.contains(argument)) {
                throw new InvalidArgument("'argument.name' must be one of %s, is '%s'"
                        .formatted(String.join(", ", known), ForeignText.line(argument, MOST_SHOWN)));
            }
            return switch (argument) {
                case NAMESPACE -> Mono.just(namespaces(caller, question));
                case SANDBOX, SANDBOX_NAME -> Mono.just(sandboxes(caller, question));
                case PATH -> paths(caller, question);
                // An argument of a prompt for which there is nothing to offer.
                default -> Mono.just(Values.none());
            };
        });
    }

    private List<String> arguments(Reference reference) {
        return switch (reference) {
            case Reference.ToPrompt(String name) ->
                prompts.stream()
                        .filter(prompt -> prompt.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> unknown("Prompt", name))
                        .arguments()
                        .stream()
                        .map(Prompt.Argument::name)
                        .toList();
            case Reference.ToTemplate(String uri) -> {
                if (!uri.equals(SandboxUri.TEMPLATE)) {
                    throw unknown("Resource template", uri);
                }
                yield List.of(NAMESPACE, SANDBOX, PATH);
            }
        };
    }

    private static InvalidArgument unknown(String kind, String name) {
        return new InvalidArgument("%s '%s' not found".formatted(kind, ForeignText.line(name, MOST_SHOWN)));
    }

    private Values namespaces(Caller caller, Question question) {
        return Values.firstOf(
                access.visible(caller).stream()
                        .map(TenantAccess.Tenant::name)
                        .filter(name -> name.startsWith(question.typed()))
                        .toList(),
                true);
    }

    private Values sandboxes(Caller caller, Question question) {
        List<TenantAccess.Tenant> tenant = allowed(() -> access.tenant(caller, namespace(question)))
                .map(List::of)
                .orElse(List.of());
        return Values.firstOf(
                overview.find(new Selection.All(tenant, Optional.empty())).stream()
                        .map(state -> state.ref().givenName())
                        .filter(name -> name.startsWith(question.typed()))
                        .toList(),
                true);
    }

    private Mono<Values> paths(Caller caller, Question question) {
        Optional<SandboxRef> sandbox = Optional.ofNullable(question.others().get(SANDBOX))
                .flatMap(name -> allowed(() -> access.sandbox(caller, namespace(question), name)));
        Optional<TypedPath> typed = TypedPath.of(question.typed());
        if (sandbox.isEmpty() || typed.isEmpty()) {
            return Mono.just(Values.none());
        }
        return folders.folder(sandbox.get(), typed.get().folderPath(), settings.metricsWait())
                .map(found -> Values.firstOf(matching(typed.get(), found), !found.truncated()))
                .defaultIfEmpty(Values.none());
    }

    private static List<String> matching(TypedPath typed, FileList found) {
        return found.entries().stream()
                .flatMap(SandboxCompletions::name)
                .flatMap(name -> typed.completed(name).stream())
                .toList();
    }

    /** With a slash behind a folder, so that the next question is about what is in it. */
    private static Stream<String> name(FileFacts file) {
        return switch (file.type()) {
            case "folder" -> Stream.of(file.path() + "/");
            case "file", "link" -> Stream.of(file.path());
            default -> Stream.empty();
        };
    }

    private static Optional<String> namespace(Question question) {
        return Optional.ofNullable(question.others().get(NAMESPACE)).filter(name -> !name.isEmpty());
    }

    /** Empty where a tool would refuse. */
    private static <T> Optional<T> allowed(Supplier<T> place) {
        try {
            return Optional.of(place.get());
        } catch (SandboxProblem | InvalidNameException _) {
            return Optional.empty();
        }
    }
}
