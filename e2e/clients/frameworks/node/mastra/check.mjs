// Mastra: tools of @mastra/mcp. An agent hands the model what they return as JSON, unless a tool has toModelOutput.
import { randomUUID } from "node:crypto";
import { MCPClient } from "@mastra/mcp";
import { main, textOf, versionOf } from "./scenario.mjs";

const SERVER = "sandglass";
const FAILED = "MCP_CLIENT_TOOL_EXECUTION_FAILED";

async function connect(url, headers) {
  const client = new MCPClient({ id: randomUUID(), servers: { [SERVER]: { url: new URL(url), requestInit: { headers } } } });
  const tools = await client.listTools();
  const call = async (tool, input, abortSignal) => {
    const made = tools[`${SERVER}_${tool}`];
    let content;
    try {
      ({ content } = await made.execute(input, { abortSignal }));
    } catch (problem) {
      if (problem.id !== FAILED) throw problem;
      return { text: problem.message, pictures: [], errorAs: "MastraError" };
    }
    const type = made.toModelOutput ? "by toModelOutput" : "base64 in the JSON result: no toModelOutput";
    return {
      text: textOf(content),
      pictures: content
        .filter((part) => part.type === "image")
        .map((part) => ({ type, mimeType: part.mimeType, base64: part.data })),
      errorAs: "",
    };
  };
  return { tools: Object.keys(tools).map((name) => name.replace(`${SERVER}_`, "")), call, close: () => client.disconnect() };
}

await main({
  version: versionOf("@mastra/mcp"),
  connect,
  patienceS: 60,
  patience: "60 s for a call: MCPClient({ timeout })",
  cancels: true,
});
