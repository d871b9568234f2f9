package dev.sandglass.gateway.action;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.FileList;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Looks into folders of sandboxes that run. It resumes no sandbox, and no sandbox counts as used for it: a client that looks
 * again and again keeps none alive.
 */
public final class RunningFolders {

    /** Most sandboxes that one page of workspaces asks. */
    public static final int MOST_SANDBOXES = 10;

    /** Most files that are kept of one workspace. */
    public static final int MOST_FILES = 100;

    /** Most entries of a folder that a sandbox is asked for. */
    public static final int MOST_ENTRIES = 1000;

    private static final String WORKSPACE = "";

    private final Sandboxes sandboxes;
    private final SandboxFiles files;

    RunningFolders(Sandboxes sandboxes, SandboxFiles files) {
        this.sandboxes = sandboxes;
        this.files = files;
    }

    /**
     * A sandbox's place in the order of all: by tenant, then by the resource's name.
     *
     * @param tenant as callers write it
     * @param name of the resource
     */
    public record Position(String tenant, String name) implements Comparable<Position> {

        private static final Comparator<Position> ORDER =
                Comparator.comparing(Position::tenant).thenComparing(Position::name);

        static Position of(SandboxRef ref) {
            return new Position(ref.tenant(), ref.name());
        }

        @Override
        public int compareTo(Position other) {
            return ORDER.compare(this, other);
        }
    }

    /** The first files in the workspace of a sandbox, at most {@link #MOST_FILES}, and no folders. */
    public record Workspace(SandboxRef sandbox, List<FileFacts> files) {

        /** Keeps its own copy of the list. */
        public Workspace {
            files = List.copyOf(files);
        }
    }

    /**
     * Some workspaces, in their order.
     *
     * @param workspaces without those of sandboxes that did not answer in time
     * @param last of the sandboxes that were asked; empty if there are no more
     */
    public record Page(List<Workspace> workspaces, Optional<Position> last) {

        /** Keeps its own copy of the list. */
        public Page {
            workspaces = List.copyOf(workspaces);
        }
    }

    /**
     * The workspaces of the next running sandboxes of these tenants.
     *
     * @param tenants ordered by name
     * @param after empty for the first page
     * @param atMost how long each sandbox has to answer
     */
    public Mono<Page> workspaces(List<TenantAccess.Tenant> tenants, Optional<Position> after, Duration atMost) {
        return Mono.defer(() -> {
            List<RunningSandbox> next = tenants.stream()
                    .filter(tenant -> after.isEmpty()
                            || tenant.name().compareTo(after.get().tenant()) >= 0)
                    .flatMap(this::running)
                    .filter(sandbox ->
                            after.isEmpty() || Position.of(sandbox.ref()).compareTo(after.get()) > 0)
                    .limit(MOST_SANDBOXES + 1L)
                    .toList();
            List<RunningSandbox> asked = next.subList(0, Math.min(next.size(), MOST_SANDBOXES));
            Optional<Position> last = next.size() > asked.size()
                    ? Optional.of(Position.of(asked.getLast().ref()))
                    : Optional.empty();
            return Flux.fromIterable(asked)
                    .flatMapSequential(
                            sandbox -> list(sandbox, WORKSPACE, atMost).map(found -> files(sandbox, found)),
                            MOST_SANDBOXES)
                    .collectList()
                    .map(found -> new Page(found, last));
        });
    }

    /** All that is kept until the other sandboxes of the page have answered. */
    private static Workspace files(RunningSandbox sandbox, FileList found) {
        List<FileFacts> files = found.entries().stream()
                .filter(entry -> entry.type().equals("file"))
                .limit(MOST_FILES)
                .toList();
        return new Workspace(sandbox.ref(), files);
    }

    private Stream<RunningSandbox> running(TenantAccess.Tenant tenant) {
        return sandboxes.list(tenant.name(), tenant.namespace()).stream()
                .filter(SandboxState.Running.class::isInstance)
                .map(state -> ((SandboxState.Running) state).sandbox())
                .sorted(Comparator.comparing(sandbox -> Position.of(sandbox.ref())));
    }

    /**
     * A folder.
     *
     * @param path relative to the workspace; empty for the workspace itself
     * @return empty if the sandbox does not run, has no such folder, or does not answer in time
     */
    public Mono<FileList> folder(SandboxRef ref, String path, Duration atMost) {
        return Mono.defer(() -> sandboxes.find(ref).orElse(null) instanceof SandboxState.Running(RunningSandbox sandbox)
                ? list(sandbox, path, atMost)
                : Mono.empty());
    }

    private Mono<FileList> list(RunningSandbox sandbox, String path, Duration atMost) {
        return files.glance(sandbox, path, MOST_ENTRIES, atMost)
                .timeout(atMost)
                .onErrorResume(
                        problem -> problem instanceof SandboxProblem || problem instanceof TimeoutException,
                        _ -> Mono.empty());
    }
}
