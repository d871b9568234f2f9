package dev.sandglass.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sandglass.api.egress.DomainRule;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRuleBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Generates the manifest of the {@code Sandbox} kind from its records, and adds what the annotations cannot say. */
final class CrdManifest {

    static final String FILE = "sandboxes.sandglass.dev-v1.yml";
    private static final List<String> COLUMNS =
            List.of("Ready", "Reason", "Image", "Age", "Address", "Incarnation", "Restarts", "Expires", "Message");
    private static final String ORIGIN = "# Generated from dev.sandglass.api by `make generate`; do not edit.\n";

    private CrdManifest() {}

    static String yaml() throws IOException {
        Path folder = Files.createTempDirectory("crd");
        new CRDGenerator()
                .customResourceClasses(Sandbox.class)
                .forCRDVersions("v1")
                .withMinQuotes(true)
                .withPostProcessor(new Completion())
                .inOutputDir(folder.toFile())
                .generate();
        String generated = Files.readString(folder.resolve(FILE));
        return ORIGIN + quoted(generated.substring(generated.indexOf("apiVersion:")));
    }

    /** With quotes around the texts of lists that Kubernetes' YAML 1.1 would take for booleans; the generator leaves them out. */
    private static String quoted(String yaml) {
        return yaml.replaceAll("(?m)^( *- )(True|False)$", "$1\"$2\"");
    }

    static JSONSchemaProps schema() throws IOException {
        return definition().getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
    }

    static CustomResourceDefinition definition() throws IOException {
        return TestResources.parse(yaml(), CustomResourceDefinition.class);
    }

    private static final class Completion implements CRDPostProcessor {
        @Override
        public HasMetadata process(HasMetadata crd, String crdSpecVersion) {
            return completed((CustomResourceDefinition) crd);
        }
    }

    private static CustomResourceDefinition completed(CustomResourceDefinition crd) {
        JSONSchemaProps root =
                crd.getSpec().getVersions().getFirst().getSchema().getOpenAPIV3Schema();
        root.setDescription(
                "An isolated environment in which an agent's code runs. Its pods come and go (incarnations); the"
                        + " sandbox stays until it is deleted.");
        JSONSchemaProps spec =
                describe(root, "spec", "What the sandbox must be like; without it every default applies.");
        // Defaults inside an absent object do not apply, hence the empty one.
        spec.setDefault(JsonNodeFactory.instance.objectNode());
        JSONSchemaProps status = describe(root, "status", "State of the sandbox; only the operator writes it.");
        byKey(field(spec, "env"), "name");
        byKey(field(spec, "volumes"), "name");
        byKey(field(spec, "ports"), "port");
        domains(field(spec, "allowedDomains"));
        // One decision of one author: a merge of two lists would open what neither of them meant.
        field(spec, "allowedDomains").setXKubernetesListType("atomic");
        byKey(field(status, "conditions"), "type");
        JSONSchemaProps condition = field(status, "conditions").getItems().getSchema();
        for (JSONSchemaProps instant : List.of(
                field(status, "startedAt"),
                field(status, "suspendedAt"),
                field(status, "expiresAt"),
                field(condition, "lastTransitionTime"))) {
            instant.setFormat("date-time");
        }
        conditions(condition);
        withoutRepetition(root);
        orderColumns(crd);
        // Not `all`: `kubectl delete all --all` would take sandboxes along.
        crd.getSpec().getNames().setCategories(List.of("sandglass"));
        return crd;
    }

    /** The schema of {@code metav1.Condition}, whose class is a library's and has no annotations for us. */
    private static void conditions(JSONSchemaProps condition) {
        condition.setRequired(List.of("lastTransitionTime", "message", "reason", "status", "type"));
        JSONSchemaProps type = describe(
                condition,
                "type",
                Arrays.stream(ConditionType.values())
                        .map(known -> known.value() + " - " + known.meaning())
                        .collect(Collectors.joining(" ")));
        type.setMaxLength(316L);
        type.setPattern("^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                + "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$");
        describe(condition, "status", "True, False or Unknown.")
                .setEnum(Stream.of("True", "False", "Unknown")
                        .<JsonNode>map(TextNode::valueOf)
                        .toList());
        JSONSchemaProps reason = describe(
                condition,
                "reason",
                "The cause in one word: "
                        + Arrays.stream(Reason.values()).map(Reason::value).collect(Collectors.joining(", "))
                        + ". The API reference (docs/api.md) explains each.");
        reason.setMinLength(1L);
        reason.setMaxLength(1024L);
        reason.setPattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$");
        describe(condition, "message", "What happened and what to do, in a sentence.")
                .setMaxLength((long) ConditionType.MAX_MESSAGE);
        describe(condition, "lastTransitionTime", "When the status last changed.");
        JSONSchemaProps generation =
                describe(condition, "observedGeneration", "Generation of the spec that this condition describes.");
        generation.setFormat("int64");
        generation.setMinimum(0.0);
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
    private static void orderColumns(CustomResourceDefinition crd) {
        crd.getSpec()
                .getVersions()
                .getFirst()
                .getAdditionalPrinterColumns()
                .sort(Comparator.comparing(column -> COLUMNS.indexOf(column.getName())));
    }

    static JSONSchemaProps field(JSONSchemaProps schema, String name) {
        return Objects.requireNonNull(schema.getProperties().get(name), name);
    }

    private static JSONSchemaProps describe(JSONSchemaProps root, String property, String description) {
        JSONSchemaProps schema = field(root, property);
        schema.setDescription(description);
        return schema;
    }

    /** The generator's annotation for rules does not go with the entries of a list. */
    private static void domains(JSONSchemaProps list) {
        JSONSchemaProps entry = list.getItems().getSchema();
        entry.setMaxLength((long) DomainRule.MAX_LENGTH);
        entry.setXKubernetesValidations(List.of(
                rule(DomainSchemaRules.ENTRY, DomainSchemaRules.NOT_AN_ENTRY),
                rule(DomainSchemaRules.NOT_A_WHOLE_TLD, DomainSchemaRules.A_WHOLE_TLD)));
    }

    private static ValidationRule rule(String expression, String message) {
        return new ValidationRuleBuilder()
                .withRule(expression)
                .withMessage(message)
                .build();
    }

    private static void byKey(JSONSchemaProps list, String key) {
        list.setXKubernetesListType("map");
        list.setXKubernetesListMapKeys(List.of(key));
        JSONSchemaProps item = list.getItems().getSchema();
        if (!item.getRequired().contains(key)) {
            item.setRequired(List.of(key));
        }
    }
}
