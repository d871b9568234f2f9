// What an agent relies on, whichever client it speaks through.
import assert from "node:assert/strict";

const PATIENCE_MS = 120_000;

const PLOT = `
import matplotlib.pyplot as plt
plt.figure(figsize=(2, 1))
plt.plot([1, 2])
plt.show()
`;

const STREAMING = `
import os, time
print("first line", flush=True)
while not os.path.exists("/workspace/seen"):
    time.sleep(0.01)
print("last line")
`;

// Ends by itself long before anybody gives up on it, and tells how long it ran.
const CANCELLED = `
import time
begun = time.monotonic()
lasted = None
print("begun", flush=True)
try:
    while time.monotonic() - begun < 20:
        time.sleep(0.05)
finally:
    lasted = time.monotonic() - begun
`;

export class Agent {
  constructor(connection) {
    this.connection = connection;
  }

  async call(name, args, options = {}) {
    const result = await this.connection.call({ name, arguments: args }, { timeout: PATIENCE_MS, ...options });
    const text = result.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
    const pictures = result.content.filter((part) => part.type === "image");
    return { text, pictures, failed: result.isError === true, ...(result.structuredContent ?? {}) };
  }

  python(sandbox, code, options) {
    return this.call("sandbox_run_code", { sandbox, code }, options);
  }
}

// Each check gets an agent and two running sandboxes.
export const CHECKS = {
  async "state is kept between calls"(agent, one) {
    await agent.python(one, "x = 40");
    assert.equal((await agent.python(one, "x + 2")).result, "42");
  },

  async "state is not shared between sandboxes"(agent, one, other) {
    await agent.python(one, "mine = 1");
    const answer = await agent.python(other, "mine");
    assert.equal(answer.status, "error");
    assert.equal(answer.error.name, "NameError");
  },

  async "output arrives while the code runs"(agent, one) {
    // The code ends only after this client has seen its first line and has said so: no clock is involved.
    let seen = "";
    let answered = false;
    let firstLine;
    const firstLineSeen = new Promise((resolve) => (firstLine = resolve));
    const onprogress = ({ message }) => {
      seen += message ?? "";
      if (seen.includes("first line\n")) firstLine();
    };
    const running = agent.python(one, STREAMING, { onprogress });
    running.finally(() => (answered = true)).catch(() => {});
    await Promise.race([firstLineSeen, running.then(() => assert.fail("answered before any progress was seen"))]);
    assert.equal(answered, false);
    await agent.call("sandbox_run_command", { sandbox: one, command: "touch", args: ["/workspace/seen"] });
    const answer = await running;
    assert.equal(answer.stdout, "first line\nlast line\n");
    if (!agent.connection.forgetsLateProgress) assert.equal(seen, "first line\nlast line\n");
  },

  async "a cancelled call ends its code"(agent, one) {
    const cancel = new AbortController();
    const onprogress = () => cancel.abort("the user has changed his mind");
    await assert.rejects(agent.python(one, CANCELLED, { onprogress, signal: cancel.signal }));
    // The kernel runs one thing at a time, so this answer comes only after the other's end.
    const lasted = Number((await agent.python(one, "lasted")).result);
    assert.ok(lasted < 10, `the code ran on for ${lasted} s`);
  },

  async "a picture is a picture"(agent, one) {
    const { pictures } = await agent.python(one, PLOT);
    assert.deepEqual(pictures.map(({ mimeType }) => mimeType), ["image/png"]);
    assert.equal(Buffer.from(pictures[0].data, "base64").toString("latin1", 0, 8), "\x89PNG\r\n\x1a\n");
  },

  async "an exception is an error with its traceback"(agent, one) {
    const answer = await agent.python(one, "def half(n):\n    return n / 0\nhalf(1)");
    assert.equal(answer.status, "error");
    assert.equal(answer.failed, true);
    assert.equal(answer.error.name, "ZeroDivisionError");
    assert.match(answer.error.traceback, /return n \/ 0/);
  },

  async "a command tells its exit code"(agent, one) {
    const args = { sandbox: one, command: "sh", args: ["-c", "echo out; exit 7"] };
    const answer = await agent.call("sandbox_run_command", args);
    assert.equal(answer.exit_code, 7);
    assert.equal(answer.failed, false);
    assert.equal(answer.stdout, "out\n");
  },

  async "metrics are told"(agent, one) {
    const { sandboxes } = await agent.call("sandbox_get_metrics", { sandbox: one });
    assert.equal(sandboxes.length, 1);
    assert.equal(sandboxes[0].name, one);
    assert.equal(sandboxes[0].running, true);
    assert.ok(sandboxes[0].memory_usage > 10, `memory_usage is ${sandboxes[0].memory_usage} MiB`);
  },

  async "a stopped sandbox does not run code"(agent, one) {
    const stopped = await agent.call("sandbox_stop", { sandbox: one });
    assert.equal(stopped.text, `Sandbox ${one} stopped successfully`);
    // Another replica of the gateway hears of it a moment later.
    const end = Date.now() + 30_000;
    let failed = false;
    while (!failed && Date.now() < end) ({ failed } = await agent.python(one, "1"));
    assert.equal(failed, true);
  },
};
