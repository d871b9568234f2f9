// The ways to the endpoint: SDK 2.x with the 2025 handshake, finding out by itself, and with nothing but revision 2026-07-28;
// SDK 1.x; and mcp-remote, the bridge for clients that can only start a program, in both of its protocols.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const WHO = { name: "sandglass-e2e", version: "1" };
const BRIDGE = fileURLToPath(new URL("node_modules/mcp-remote/dist/proxy.js", import.meta.url));

const withKey = (token) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

const sdk2 = (mode) => async (url, token) => {
  const client = new Client(WHO, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), withKey(token)));
  return { call: (params, options) => client.callTool(params, options), close: () => client.close() };
};

const sdk1 = (transport, more = {}) => async (url, token) => {
  const client = new Client1(WHO);
  await client.connect(transport(url, token));
  return {
    call: (params, options) => client.callTool(params, undefined, options),
    close: async () => {
      await client.close();
      more.finish?.();
    },
    ...more,
  };
};

const bridged = (protocol) => (url, token) => {
  // It keeps what it learns about servers in a folder; this one is its own.
  const folder = mkdtempSync(join(tmpdir(), "mcp-remote-"));
  const args = [BRIDGE, url, "--allow-http", "--transport", "http-only", "--protocol", protocol, "--header", "Authorization:${KEY}"];
  const env = { PATH: process.env.PATH, MCP_REMOTE_CONFIG_DIR: folder, KEY: `Bearer ${token}` };
  const bridge = () => new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" });
  const finish = () => rmSync(folder, { recursive: true, force: true });
  // SDK 1.x drops progress that it reads from a program together with the answer: it handles the answer first.
  return sdk1(bridge, { finish, forgetsLateProgress: true })(url, token);
};

export const WAYS = {
  legacy: sdk2("legacy"),
  auto: sdk2("auto"),
  "2026-07-28 only": sdk2({ pin: "2026-07-28" }),
  "SDK 1.x": sdk1((url, token) => new Transport1(new URL(url), withKey(token))),
  "mcp-remote": bridged("legacy"),
  "mcp-remote --protocol auto": bridged("auto"),
};
