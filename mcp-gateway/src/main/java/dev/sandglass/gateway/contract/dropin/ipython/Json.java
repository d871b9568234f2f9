package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.output.Image;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Answers as JSON in a text, with pictures beside it (contracts.md P3, P8, P18). */
final class Json {

    private Json() {}

    /**
     * An answer whose status is data: it is no error to the protocol.
     *
     * @param text what the text says
     * @param data the same, for programs that ask for it: an object
     * @param outcome for audit and metrics
     */
    static ToolResult answer(
            JsonNode text, JsonNode data, List<Image> images, String outcome, @Nullable String executionId) {
        var content = new ArrayList<ToolResult.Content>();
        content.add(new ToolResult.Content.Text(ForeignText.json(text.toString())));
        images.forEach(image -> content.add(new ToolResult.Content.Image(image.mimeType(), image.base64())));
        return new ToolResult(content, data, false, outcome, executionId);
    }
}
