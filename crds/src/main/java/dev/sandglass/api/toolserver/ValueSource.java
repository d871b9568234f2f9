package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;

/**
 * Where a value comes from that does not stand in the resource. The kubelet brings it into the server's pod; operator and
 * gateway never see it.
 *
 * @param secretKeyRef an entry of a Secret
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ValueSource(
        @Required
        @JsonPropertyDescription(
                "An entry of a Secret of the same namespace, which must exist when the server's pod starts. A tool"
                        + " server may use at most 16 Secrets.")
        SecretKeyRef secretKeyRef) {}
