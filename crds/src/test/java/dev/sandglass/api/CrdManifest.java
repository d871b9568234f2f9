package dev.sandglass.api;

import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Generates the manifest of a kind from its records, and adds what the annotations cannot say.
 *
 * @param kind of the resource
 * @param file in which the generator writes it
 * @param columns in the order in which a reader wants them; the generator sorts them by path
 * @param completion what the annotations cannot say
 */
record CrdManifest(
        Class<? extends CustomResource<?, ?>> kind,
        String file,
        List<String> columns,
        Consumer<JSONSchemaProps> completion) {

    static final CrdManifest SANDBOX = new CrdManifest(
            Sandbox.class,
            "sandboxes.sandglass.dev-v1.yml",
            List.of(
                    "Ready",
                    "Reason",
                    "Image",
                    "Age",
                    "Address",
                    "Incarnation",
                    "Restarts",
                    "Start",
                    "Expires",
                    "Message"),
            SandboxSchema::complete);

    static final CrdManifest TOOL_SERVER = new CrdManifest(
            SandboxToolServer.class,
            "sandboxtoolservers.sandglass.dev-v1.yml",
            List.of("Ready", "Reason", "Tools", "Command", "Age", "URL", "Sandbox", "Message"),
            ToolServerSchema::complete);

    static final CrdManifest POOL = new CrdManifest(
            SandboxPool.class,
            "sandboxpools.sandglass.dev-v1.yml",
            List.of("Seats", "Ready", "Updated", "Image", "Age", "Message"),
            PoolSchema::complete);

    static final List<CrdManifest> ALL = List.of(SANDBOX, TOOL_SERVER, POOL);

    private static final String ORIGIN = "# Generated from dev.sandglass.api by `make generate`; do not edit.\n";

    String yaml() throws IOException {
        String generated = generated();
        return ORIGIN + quoted(generated.substring(generated.indexOf("apiVersion:")));
    }

    /** What the generator writes. It writes to folders alone; one of its own, since tests run side by side. */
    private String generated() throws IOException {
        Path folder = Files.createTempDirectory("crd");
        Path manifest = folder.resolve(file);
        try {
            new CRDGenerator()
                    .customResourceClasses(kind)
                    .forCRDVersions("v1")
                    .withMinQuotes(true)
                    .withPostProcessor(new Completion())
                    .inOutputDir(folder.toFile())
                    .generate();
            return Files.readString(manifest);
        } finally {
            Files.deleteIfExists(manifest);
            Files.delete(folder);
        }
    }

    /** With quotes around the texts of lists that Kubernetes' YAML 1.1 would take for booleans; the generator leaves them out. */
    private static String quoted(String yaml) {
        return yaml.replaceAll("(?m)^( *- )(True|False)$", "$1\"$2\"");
    }

    JSONSchemaProps schema() throws IOException {
        return definition().getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
    }

    CustomResourceDefinition definition() throws IOException {
        return TestResources.parse(yaml(), CustomResourceDefinition.class);
    }

    private final class Completion implements CRDPostProcessor {
        @Override
        public HasMetadata process(HasMetadata crd, String crdSpecVersion) {
            return completed((CustomResourceDefinition) crd);
        }
    }

    private CustomResourceDefinition completed(CustomResourceDefinition crd) {
        JSONSchemaProps root =
                crd.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
        completion.accept(root);
        withoutRepetition(root);
        orderColumns(crd);
        // Not `all`: `kubectl delete all --all` would take sandboxes along.
        crd.getSpec().getNames().setCategories(List.of("sandglass"));
        return crd;
    }

    /** The generator reads a rule on a record's component twice: from the field and from the accessor. */
    private static void withoutRepetition(JSONSchemaProps schema) {
        schema.setXKubernetesValidations(
                schema.getXKubernetesValidations().stream().distinct().toList());
        schema.getProperties().values().forEach(CrdManifest::withoutRepetition);
        if (schema.getItems() != null) {
            withoutRepetition(schema.getItems().getSchema());
        }
    }

    /** The generator sorts columns by path; a reader wants the answer first. */
    private void orderColumns(CustomResourceDefinition crd) {
        crd.getSpec()
                .getVersions()
                .getFirst()
                .getAdditionalPrinterColumns()
                .sort(Comparator.comparing(column -> columns.indexOf(column.getName())));
    }
}
