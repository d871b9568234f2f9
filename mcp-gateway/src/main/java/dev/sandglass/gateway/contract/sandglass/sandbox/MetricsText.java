package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.ForeignText;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What {@code sandbox_get_metrics} tells a model, and a program that reads texts: one JSON object with the names of
 * contracts.md M23, a line for each sandbox. Of one sandbox it has every figure that is known. Pure.
 */
final class MetricsText {

    /** More than a model can use. */
    static final int MOST_SANDBOXES = 100;

    private static final Set<String> CONTRACT =
            Set.of("namespace", "name", "running", "cpu_usage", "memory_usage", "disk_usage");
    private static final JsonMapper JSON = JsonMapper.shared();

    private MetricsText() {}

    static String of(MetricsAnswer metrics) {
        List<MetricsAnswer.Usage> all = metrics.sandboxes();
        boolean alone = all.size() == 1;
        String entries = all.stream()
                .limit(MOST_SANDBOXES)
                .map(usage -> entry(usage, alone))
                .collect(Collectors.joining(",\n", "\n", "\n"));
        int more = all.size() - MOST_SANDBOXES;
        String leftOut = more > 0 ? ",\"not_shown\":" + more : "";
        String truncated = metrics.truncated() ? ",\"truncated\":true" : "";
        return ForeignText.json("{\"sandboxes\":[%s]%s%s}".formatted(entries, leftOut, truncated));
    }

    private static String entry(MetricsAnswer.Usage usage, boolean inFull) {
        ObjectNode fields = JSON.valueToTree(usage);
        List<String> left = fields.properties().stream()
                .filter(field -> !CONTRACT.contains(field.getKey())
                        && (!inFull || field.getValue().isNull()))
                .map(Map.Entry::getKey)
                .toList();
        fields.remove(left);
        return JSON.writeValueAsString(fields);
    }
}
