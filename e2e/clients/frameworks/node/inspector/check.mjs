// The MCP Inspector's command line: each call is a run of the program, which prints the answer as JSON.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { main, textOf, versionOf } from "./scenario.mjs";

const PACKAGE = "@modelcontextprotocol/inspector";
const PROGRAM = fileURLToPath(new URL(`node_modules/${PACKAGE}/clients/launcher/build/index.js`, import.meta.url));
const MOST_BYTES = 16 * 1024 * 1024;

async function connect(url, headers) {
  const server = ["--cli", "--server-url", url, "--transport", "http", "--format", "json", "--quiet"];
  const header = ["--header", `Authorization: ${headers.Authorization}`];
  const ask = (method, options, signal) =>
    new Promise((resolve, reject) => {
      const given = [PROGRAM, ...server, ...header, "--method", method, ...options];
      execFile(process.execPath, given, { signal, maxBuffer: MOST_BYTES }, (problem, out, error) => {
        // A failed tool has an exit code of its own, and its answer is printed all the same.
        if (out.trim()) resolve({ answer: JSON.parse(out), code: problem?.code ?? 0 });
        else reject(new Error(error, { cause: problem }));
      }).stdin.end();
    });
  const call = async (tool, input, signal) => {
    const pairs = Object.entries(input).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    const { answer, code } = await ask("tools/call", ["--tool-name", tool, ...pairs.flatMap((pair) => ["--tool-arg", pair])], signal);
    const { content, isError } = answer.result ?? answer;
    return {
      text: textOf(content),
      pictures: content
        .filter((part) => part.type === "image")
        .map((part) => ({ type: "MCP's content as JSON", mimeType: part.mimeType, base64: part.data })),
      errorAs: isError ? `isError, exit code ${code}` : "",
    };
  };
  const { answer } = await ask("tools/list", []);
  return { tools: (answer.result ?? answer).tools.map((tool) => tool.name), call, close: async () => {} };
}

await main({
  version: versionOf(PACKAGE),
  connect,
  patienceS: 60,
  patience: "60 s for a call: requestTimeout of a server in its catalog",
  cancels: true,
});
