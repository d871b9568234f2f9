// AI SDK: tools of @ai-sdk/mcp, and what they make of an answer for the model.
import { createMCPClient } from "@ai-sdk/mcp";
import { main, versionOf } from "./scenario.mjs";

async function connect(url, headers) {
  const client = await createMCPClient({ transport: { type: "http", url, headers } });
  const tools = await client.tools();
  const call = async (tool, input, abortSignal) => {
    const output = await tools[tool].execute(input, { toolCallId: "1", messages: [], abortSignal });
    const { value } = await tools[tool].toModelOutput({ toolCallId: "1", input, output });
    return {
      text: value.filter((part) => part.type === "text").map((part) => part.text).join("\n"),
      pictures: value
        .filter((part) => part.type === "file")
        .map((part) => ({ type: "file part of the tool's output", mimeType: part.mediaType, base64: part.data.data })),
      errorAs: output.isError ? "text alone: the model does not see isError" : "",
    };
  };
  return { tools: Object.keys(tools), call, close: () => client.close() };
}

await main({
  version: versionOf("@ai-sdk/mcp"),
  connect,
  patienceS: null,
  patience: "none for a call; 300 s without a byte (fetch of Node)",
  cancels: true,
});
