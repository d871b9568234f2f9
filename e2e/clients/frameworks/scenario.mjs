// The scenario that every client goes through, for clients of Node; its texts are in scenario.json. A client's check.mjs
// says how that client connects, calls, and hands over pictures and errors, and calls main().
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";

const WORDS = JSON.parse(readFileSync(new URL("scenario.json", import.meta.url)));
const READ_ON = /execution_id '([^']+)' and offset (\d+)/g;

export const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

/** The texts of a tool's result in MCP's own form. */
export const textOf = (content) => content.filter((part) => part.type === "text").map((part) => part.text).join("\n");

// What a client is: { version, patienceS (null if there is none below 5 minutes), patience (in words), cancels,
// connect(url, headers) }. A connection is { tools (names), call(tool, arguments, signal), close() }. An answer is
// { text, pictures: [{ type, mimeType, base64 }], errorAs }.
class Scenario {
  constructor(client) {
    this.client = client;
    this.url = process.env.SANDGLASS_URL;
    this.headers = { Authorization: `Bearer ${process.env.SANDGLASS_TOKEN}` };
    this.sandbox = `try-${randomBytes(4).toString("hex")}`;
    this.seen = { version: client.version };
  }

  get isImpatient() {
    return this.client.patienceS !== null && this.client.patienceS < WORDS.long.needs_s;
  }

  async connected(work) {
    const agent = await this.client.connect(this.url + (this.isImpatient ? `?wait=${WORDS.long.short_wait_s}` : ""), this.headers);
    try {
      await work(agent);
    } finally {
      await agent.close();
    }
  }

  async run() {
    await this.connected(async (agent) => {
      this.seen.tools = String(agent.tools.length);
      assert.equal(agent.tools.length, WORDS.tools);
      assert.deepEqual(WORDS.core_tools.filter((name) => !agent.tools.includes(name)), []);
      contains((await agent.call("sandbox_start", { sandbox: this.sandbox })).text, `Sandbox ${this.sandbox} `);
      for (const step of ["state", "picture", "error", "long", "cancel"]) await this[step](agent);
    });
    await this.patience();
    await this.connected((agent) => this.stop(agent));
    this.seen.stop = "ok";
  }

  async stop(agent) {
    contains((await agent.call("sandbox_stop", { sandbox: this.sandbox, delete: true })).text, "stopped successfully");
  }

  python(agent, code, more = {}, signal) {
    return agent.call("sandbox_run_code", { sandbox: this.sandbox, code, ...more }, signal);
  }

  async state(agent) {
    await this.python(agent, WORDS.state.first);
    assert.equal((await this.python(agent, WORDS.state.then)).text.trim(), WORDS.state.text);
    this.seen.state = "ok";
  }

  async picture(agent) {
    const { text, pictures } = await this.whole(agent, WORDS.picture.code);
    contains(text, WORDS.picture.note);
    assert.deepEqual(pictures.map(({ mimeType }) => mimeType), [WORDS.picture.mime_type]);
    assert.ok(pictures[0].base64.startsWith(WORDS.picture.begins_with_base64));
    this.seen.picture = pictures[0].type;
  }

  async error(agent) {
    const { text, errorAs } = await this.python(agent, WORDS.error.code);
    for (const part of WORDS.error.texts) contains(text, part);
    assert.ok(errorAs, "the client does not tell that it is an error");
    this.seen.error = errorAs;
  }

  async long(agent) {
    const { text } = await this.whole(agent, WORDS.long.code);
    for (const part of [WORDS.long.first, WORDS.long.last]) contains(text, part);
    if (agent.progress) assert.ok(agent.progress() > 0);
    this.seen.long = this.isImpatient ? `read on with ?wait=${WORDS.long.short_wait_s}` : "one call";
    this.seen.progress = agent.progress ? `${agent.progress()} notifications` : "no way to see it";
  }

  /** All of a run, whatever number of calls it takes. */
  async whole(agent, code) {
    let answer = await this.python(agent, code);
    const texts = [answer.text];
    const pictures = [...answer.pictures];
    for (let found; answer.text.startsWith("[running") && (found = [...answer.text.matchAll(READ_ON)].at(-1)); ) {
      answer = await agent.call("sandbox_get_execution", { execution_id: found[1], offset: Number(found[2]) });
      texts.push(answer.text);
      pictures.push(...answer.pictures);
    }
    return { text: texts.join("\n"), pictures };
  }

  async appears(agent, path, withinS) {
    for (const end = Date.now() + withinS * 1000; Date.now() < end; await pause(300)) {
      const { text } = await agent.call("sandbox_run_command", { sandbox: this.sandbox, command: "test", args: ["-e", path] });
      if (!text.includes("[exit code 1]")) return true;
    }
    return false;
  }

  async cancel(agent) {
    const { code, begun, ended, within_s: withinS } = WORDS.cancel;
    const abort = new AbortController();
    const running = this.python(agent, code, { wait: 60 }, abort.signal).catch(() => {});
    assert.ok(await this.appears(agent, begun, 30), "the code did not begin");
    abort.abort();
    await Promise.race([running, pause(withinS * 1000)]);
    const reached = await this.appears(agent, ended, withinS);
    if (!reached) {
      await agent.call("sandbox_interrupt", { sandbox: this.sandbox });
      assert.ok(await this.appears(agent, ended, withinS), "sandbox_interrupt did not end the code");
    }
    assert.equal(reached, this.client.cancels);
    this.seen.cancel = reached ? "ends the code" : "sandbox_interrupt ends the code";
  }

  async patience() {
    const { code, beyond_s: beyondS, early_s: earlyS, late_s: lateS, last, most_measured_s: mostS, file } = WORDS.too_long;
    const limit = this.client.patienceS;
    this.seen["time-out"] = this.client.patience;
    if (limit === null || limit > mostS) return;
    const seconds = limit + beyondS;
    const agent = await this.client.connect(this.url, this.headers);
    const begun = Date.now();
    // What it throws differs from client to client; when it does is what counts.
    const asked = this.python(agent, code.replace("{seconds}", seconds), { wait: seconds + 20 });
    const { text } = await asked.catch(() => ({ text: "" }));
    const taken = (Date.now() - begun) / 1000;
    await Promise.race([agent.close(), pause(2000)]).catch(() => {});
    assert.ok(!text.includes(last), "the call did not time out");
    assert.ok(taken >= limit - earlyS && taken <= limit + lateS, `the call ended after ${taken} s`);
    await this.connected(async (other) => {
      const wentOn = await this.appears(other, file, 1.5 * beyondS);
      this.seen["time-out"] += `; measured ${taken.toFixed(0)} s, then the code ${wentOn ? "runs on" : "is interrupted"}`;
    });
  }
}

function contains(text, part) {
  assert.ok(text.includes(part), `expected ${inspect(part)} in ${inspect(text.slice(0, 500))}`);
}

export async function main(client) {
  const scenario = new Scenario(client);
  let failed = "";
  try {
    await scenario.run();
  } catch (problem) {
    failed = inspect(problem);
    console.log(failed);
    await scenario.connected((agent) => scenario.stop(agent)).catch(() => {});
  }
  const seen = { ...scenario.seen, failed };
  console.log(JSON.stringify(seen, null, 2));
  if (process.env.SANDGLASS_RESULT) writeFileSync(process.env.SANDGLASS_RESULT, JSON.stringify(seen));
  process.exit(failed ? 1 : 0);
}
