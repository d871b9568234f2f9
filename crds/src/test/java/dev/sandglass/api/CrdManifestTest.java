package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What is committed is what the records say; with {@code -Dsandglass.generate=true} it is written instead. */
class CrdManifestTest {

    private static final Path IN_JAR = Path.of("src/main/resources/META-INF/fabric8", CrdManifest.FILE);
    private static final Path FOR_CHART = Path.of("generated", CrdManifest.FILE);
    private static final Path REFERENCE = Path.of("generated", "api.md");

    @Test
    void committedManifestsAreUpToDate() throws IOException {
        committed(IN_JAR, CrdManifest.yaml());
        committed(FOR_CHART, CrdManifest.yaml());
    }

    @Test
    void committedReferenceIsUpToDate() throws IOException {
        committed(REFERENCE, ApiReference.markdown(CrdManifest.schema()));
    }

    @Test
    void everyFieldIsExplained() throws IOException {
        JSONSchemaProps root = CrdManifest.schema();
        assertThat(root.getDescription()).isNotBlank();
        for (String part : new String[] {"spec", "status"}) {
            CrdManifest.field(root, part).getProperties().forEach((name, field) -> assertThat(field.getDescription())
                    .as(part + "." + name)
                    .isNotBlank());
        }
    }

    @Test
    void reservedNamesAreTheSameInSchemaAndJava() {
        EnvRules.RESERVED_NAMES.forEach(
                name -> assertThat(SchemaRules.ENV_NAME_NOT_RESERVED).contains("'" + name + "'"));
        EnvRules.RESERVED_PREFIXES.forEach(
                prefix -> assertThat(SchemaRules.ENV_NAME_NOT_RESERVED).contains("startsWith('" + prefix + "')"));
        assertThat(SchemaRules.ENV_SIZE).endsWith("<= " + EnvRules.MAX_BYTES);
    }

    private static void committed(Path file, String expected) throws IOException {
        if (Boolean.getBoolean("sandglass.generate")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, expected);
        }
        assertThat(file)
                .as("run: make generate (or mvn -pl crds test -Dsandglass.generate=true)")
                .exists();
        assertThat(Files.readString(file))
                .as("%s is stale; run: make generate", file)
                .isEqualTo(expected);
    }
}
