'use strict';
// The functions of the package, and what the servers' own modules call.

const { ToolError, ToolRunnerError, ofKind } = require('./errors.js');
const { entered } = require('./gate.js');
const { Media, textOf, valueOf } = require('./values.js');
const { ask } = require('./wire.js');

/** Calls a tool and returns what it answers; see index.d.ts. */
async function call(server, tool, args, options) {
  return await called(call, server, tool, args, options);
}

/** `by` is the function that the code called: the stack of an error begins where it did so. */
async function called(by, server, tool, args = {}, options = {}) {
  const place = {};
  Error.captureStackTrace(place, by);
  try {
    return await outcomeOf(server, tool, args, options);
  } catch (error) {
    if (error instanceof ToolRunnerError) {
      const [, ...frames] = String(place.stack).split('\n');
      error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n');
    }
    throw error;
  }
}

async function outcomeOf(server, tool, args, options) {
  if (typeof server !== 'string' || typeof tool !== 'string') {
    throw new TypeError("server and tool are texts: call('github', 'list_issues', { repo: 'a/b' })");
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new TypeError(`arguments are one object, such as { repo: 'a/b' }, and not ${Array.isArray(args) ? 'a list' : args}`);
  }
  const { timeoutS, signal } = options ?? {};
  if (timeoutS !== undefined && !(typeof timeoutS === 'number' && timeoutS > 0 && timeoutS < Infinity)) {
    throw new TypeError(`timeoutS is a number of seconds above 0, not ${timeoutS}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal is an AbortSignal');
  const signals = signalsOf(signal);
  const request = { op: 'call', server, tool, arguments: args, timeout_s: timeoutS };
  const result = resultOf(await entered(server, signals, () => ask(request, timeoutS, signals)), server, tool);
  if (result.isError) throw new ToolError(textOf(result) || `${server}.${tool} failed, and says no more`, server, tool);
  return valueOf(result);
}

/** The servers with their names, states and tools. */
async function servers() {
  const found = resultOf(await ask({ op: 'servers' }, undefined, signalsOf()));
  if (found.note) console.warn(String(found.note));
  return Array.isArray(found.servers) ? found.servers : [];
}

/** A tool, 'server.tool', with its schemas; or 'server' with its tools. */
async function describe(what) {
  const [, server, tool] = /^([^.]*)(?:\.([^]*))?$/.exec(String(what));
  const request = { op: 'describe', server, tool: tool || undefined };
  const found = resultOf(await ask(request, undefined, signalsOf()), server, tool || undefined);
  const [first] = Array.isArray(found.tools) ? found.tools : [];
  return tool && first ? { server, ...first } : found;
}

/** The tools whose names and descriptions have most of the words, best first. */
async function search(words, limit = 5) {
  const wanted = new Set(wordsOf(String(words)));
  const found = [];
  for (const { name: server, tools } of await servers()) {
    for (const { name: tool, description = '' } of tools ?? []) {
      const points = score(wanted, [[3, tool], [2, server], [1, description]]);
      if (points > 0) found.push({ points, tool: { server, tool, description } });
    }
  }
  found.sort((one, other) => other.points - one.points);
  return found.slice(0, Math.max(limit, 0)).map(({ tool }) => tool);
}

/** The function of one tool, under the name that its module has for it. */
function tool(server, name, as) {
  const { [as]: made } = { [as]: async (args, options) => await called(made, server, name, args, options) };
  return made;
}

/** What ends a call: the caller's signal, and the interrupt of the run in Sandglass's Node kernel. */
function signalsOf(signal) {
  const interrupts = globalThis[Symbol.for('sandglass.interrupts')]?.();
  return [signal, interrupts].filter((given) => given !== undefined);
}

function resultOf(answer, server, tool) {
  if (typeof answer.result !== 'object' || answer.result === null) throw ofKind(answer.error, server, tool);
  return answer.result;
}

/** searchIssues and search_issues are two words each. */
function wordsOf(text) {
  const apart = text.slice(0, 10_000).replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.toLowerCase());
}

function score(wanted, places) {
  let points = 0;
  for (const [weight, text] of places) {
    const words = new Set(wordsOf(String(text)));
    for (const word of wanted) {
      if (words.has(word)) points += weight;
      else if ([...words].some((other) => isAlike(word, other))) points += weight / 2;
    }
  }
  return points;
}

/** True for "issue" and "issues". */
function isAlike(one, other) {
  return Math.min(one.length, other.length) > 2 && (one.startsWith(other) || other.startsWith(one));
}

module.exports = { Media, call, describe, search, servers, tool };
