// The checks, seen through the MCP TypeScript SDK, 2.x and 1.x, in each way in which it can speak to a server.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { Agent, CHECKS } from "./checks.mjs";
import { WAYS } from "./ways.mjs";

const { SANDGLASS_URL, SANDGLASS_TOKEN } = process.env;

// Made again, as the answer says, while the node is full of what others have left, or busy.
async function broughtUp(agent, sandbox) {
  let started;
  for (let start = 0; start < 30; start++) {
    started = await agent.call("sandbox_start", { sandbox });
    if (started.status !== "starting" && !started.text.includes("No node has enough")) break;
  }
  return started;
}

async function checkWay(name, connect, tally) {
  const agent = new Agent(await connect(`${SANDGLASS_URL}?structured=true`, SANDGLASS_TOKEN));
  const sandboxes = ["one", "other"].map((which) => `ts-${which}-${randomBytes(4).toString("hex")}`);
  try {
    for (const sandbox of sandboxes) {
      const started = await broughtUp(agent, sandbox);
      assert.equal(started.text, `Sandbox ${sandbox} started successfully`);
    }
    for (const [title, check] of Object.entries(CHECKS)) {
      try {
        await check(agent, ...sandboxes);
        tally.passed++;
        console.log(`ok      ${name}: ${title}`);
      } catch (problem) {
        tally.failed++;
        console.log(`FAILED  ${name}: ${title}\n${inspect(problem).replace(/^/gm, "        ")}`);
      }
    }
  } finally {
    for (const sandbox of sandboxes) await agent.call("sandbox_stop", { sandbox, delete: true });
    await agent.connection.close();
  }
}

if (!SANDGLASS_URL || !SANDGLASS_TOKEN) {
  console.error("set SANDGLASS_URL and SANDGLASS_TOKEN (build/endpoint.env has them)");
  process.exit(2);
}
const tally = { passed: 0, failed: 0 };
for (const [name, connect] of Object.entries(WAYS)) {
  try {
    await checkWay(name, connect, tally);
  } catch (problem) {
    tally.failed++;
    console.log(`FAILED  ${name}: could not go on\n${inspect(problem).replace(/^/gm, "        ")}`);
  }
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);
