package dev.sandglass.gateway.contract.config;

import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.VolumeRules;
import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import java.util.List;
import java.util.Optional;

/** Fields of a sandbox's configuration that have a rule of their own; errors name them as the caller did. */
public final class ConfigFields {

    /** Longest name of an image. */
    public static final int MAX_IMAGE_CHARS = 512;

    private ConfigFields() {}

    /** The image; empty if it was left out or blank. */
    public static Optional<String> image(Arguments config) {
        Optional<String> image = config.text("image", MAX_IMAGE_CHARS).filter(name -> !name.isBlank());
        if (image.isPresent() && image.get().chars().anyMatch(Character::isWhitespace)) {
            throw new InvalidArgument("'%s' must be the name of an image without blanks, such as 'microsandbox/python';"
                            .formatted(config.name("image"))
                    + " leave it out for the installation's default");
        }
        return image;
    }

    /** The name of a RuntimeClass; empty if it was left out or blank. */
    public static Optional<String> runtimeClass(Arguments config) {
        Optional<String> name =
                config.text("runtime_class", SandboxSpec.MAX_RUNTIME_CLASS_NAME).filter(text -> !text.isBlank());
        name.flatMap(VolumeRules::objectProblem).ifPresent(problem -> {
            throw new InvalidArgument("'%s': %s".formatted(config.name("runtime_class"), problem));
        });
        return name;
    }

    /** The hosts that code may reach (contracts.md O3); empty if no list was given. */
    public static Optional<List<String>> allowedDomains(Arguments config) {
        return config.texts("allowed_domains", EgressRules.MAX_ENTRIES, DomainRule.MAX_LENGTH)
                .map(entries -> checked(config.name("allowed_domains"), entries));
    }

    private static List<String> checked(String field, List<String> entries) {
        for (int index = 0; index < entries.size(); index++) {
            try {
                DomainRule.parse(entries.get(index));
            } catch (IllegalArgumentException e) {
                throw new InvalidArgument("'%s[%d]': %s".formatted(field, index, e.getMessage()));
            }
        }
        return entries;
    }
}
