package dev.sandglass.api.pool;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.model.annotation.SpecReplicas;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pool keeps ready.
 *
 * @param replicas how many seats that no sandbox has claimed
 * @param template what each seat is like; the defaults of a sandbox if absent
 * @param languages whose kernels a seat starts ahead, of {@link #PYTHON} and {@link #JAVASCRIPT}; Python alone if absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SandboxPoolSpec(
        @SpecReplicas
        @Default("1")
        @Min(0)
        @Max(MAX_REPLICAS)
        @JsonPropertyDescription(
                "How many seats, pods that no sandbox has claimed, the operator keeps ready: from 0 to 1000,"
                        + " and at most what the installation allows. Default: 1.")
        int replicas,

        @JsonPropertyDescription("What each seat is like. A sandbox claims a seat if its spec says the same. Default: a"
                + " sandbox of the default size with the installation's default image.")
        PoolTemplate template,

        @Size(max = MAX_LANGUAGES)
        @ValidationRule(value = PoolSchemaRules.LANGUAGES_KNOWN, message = PoolSchemaRules.LANGUAGE_UNKNOWN)
        @ValidationRule(value = PoolSchemaRules.LANGUAGES_ONCE, message = PoolSchemaRules.LANGUAGE_TWICE)
        @JsonPropertyDescription(
                "Languages whose kernels a seat starts ahead: python, javascript. []: none; the first run"
                        + " starts its kernel. Default: python.")
        List<String> languages) {

    /** Most seats of one pool by the schema; the installation sets a lower ceiling. */
    public static final int MAX_REPLICAS = 1000;

    /** Most entries of the list of languages: as many as there are. */
    public static final int MAX_LANGUAGES = 2;

    /** As {@code sandbox_run_code} calls it. */
    public static final String PYTHON = "python";

    /** As {@code sandbox_run_code} calls it. */
    public static final String JAVASCRIPT = "javascript";

    /** A pool of which nothing is said. */
    public static final SandboxPoolSpec DEFAULT = new SandboxPoolSpec(1, null, null);

    public SandboxPoolSpec(int replicas, @Nullable PoolTemplate template, @Nullable List<String> languages) {
        this.replicas = replicas;
        this.template = template == null ? PoolTemplate.DEFAULT : template;
        this.languages = languages == null ? List.of(PYTHON) : List.copyOf(languages);
    }
}
