package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.action.FileActions;
import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.action.Used;
import dev.sandglass.gateway.output.Image;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Keeps what a cell drew or printed in files of the workspace, to which the answer points (contracts.md I9). */
final class KeptFiles {

    private static final String WORKSPACE = "/workspace/";

    private final FileActions files;

    KeptFiles(FileActions files) {
        this.files = files;
    }

    /**
     * The absolute paths of pictures, in their order; what cannot be kept is left out.
     *
     * @param number of the execution, for their names
     */
    Mono<List<String>> pictures(SandboxRef ref, String number, List<Image> images, Patience patience) {
        return Flux.range(0, images.size())
                .concatMap(index -> picture(ref, number + "-" + (index + 1), images.get(index), patience))
                .collectList();
    }

    /** A picture that was scaled down is in a file already. */
    private Mono<String> picture(SandboxRef ref, String name, Image image, Patience patience) {
        Image.Full full = image.full();
        if (full != null && full.path() != null) {
            return Mono.just(full.path());
        }
        String ending = image.mimeType().replaceAll("^image/|[+;].*$", "").replaceAll("[^a-z0-9]", "");
        byte[] bytes = Base64.getDecoder().decode(image.base64());
        return write(ref, "images/" + name + "." + ending, bytes, patience).flatMap(Mono::justOrEmpty);
    }

    /** The absolute path of a text's file; empty if it cannot be kept. */
    Mono<Optional<String>> text(SandboxRef ref, String number, String text, Patience patience) {
        return write(ref, "outputs/" + number + ".txt", text.getBytes(StandardCharsets.UTF_8), patience);
    }

    private Mono<Optional<String>> write(SandboxRef ref, String path, byte[] bytes, Patience patience) {
        return files.write(ref, path, null, bytes, patience)
                .map(used -> used instanceof Used.Done ? Optional.of(WORKSPACE + path) : Optional.<String>empty())
                .onErrorResume(SandboxProblem.class, full -> Mono.just(Optional.empty()));
    }
}
