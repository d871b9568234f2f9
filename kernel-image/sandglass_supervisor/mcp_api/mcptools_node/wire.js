'use strict';
// The socket of the supervisor: one connection for each request, which closes with it. So the supervisor knows of each
// call whose it is. A call that is given up sends `cancel` before it closes the connection.

const net = require('node:net');
const process = require('node:process');
const { ToolRunnerError, ToolTimeout, Unreachable } = require('./errors.js');

const VARIABLE = 'SANDGLASS_MCP_SOCKET';
const FRAME_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 4;
const CONNECT_MS = 10_000;
const RETRY_MS = 10;
// The supervisor keeps the time of a call. If it does not answer either, the caller is freed this much later.
const GRACE_S = 10;
const TIMER_MS = 2 ** 31 - 1; // Node takes no longer one
const ID = 1;

/** Sends a request and waits for its answer. A signal ends that with its reason. */
async function ask(request, timeoutS, signals) {
  const frame = framed({ id: ID, ...request });
  const path = process.env[VARIABLE];
  if (!path) throw new Unreachable(`${VARIABLE} is not set: MCP servers are reached from the kernels and commands of a sandbox that has them`);
  const outcome = await exchange(path, frame, timeoutS, signals);
  if (outcome.aborted) throw outcome.aborted.reason;
  if (outcome.isLate) throw new ToolTimeout(`no answer within ${timeoutS} s, nor in the ${GRACE_S} s after`);
  if (outcome.broken) throw new Unreachable(`the way to the MCP servers broke: ${outcome.broken}`);
  return outcome.answer;
}

/** {answer}, or why there is none: {aborted}, {isLate} or {broken}. */
function exchange(path, frame, timeoutS, signals) {
  return new Promise((resolve) => {
    const began = Date.now();
    const chunks = [];
    let [received, wanted] = [0, undefined];
    let connection;
    let timers = [];
    const settle = (outcome) => {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', abort);
      timers = [];
      if ((outcome.aborted || outcome.isLate) && connection && !connection.connecting) {
        // Best effort: what closes the connection cancels the call as well. No program waits for it.
        connection.write(framed({ id: ID, op: 'cancel' }));
        connection.destroySoon();
        connection.unref();
      } else {
        connection?.destroy();
      }
      resolve(outcome);
    };
    const abort = (event) => settle({ aborted: event.target });
    const hear = (data) => {
      chunks.push(data);
      received += data.length;
      if (wanted === undefined && received >= HEAD_BYTES) {
        wanted = Buffer.concat(chunks).readUInt32BE(0);
        if (wanted === 0 || wanted > FRAME_BYTES) settle({ broken: `an answer of ${wanted} bytes` });
      }
      if (wanted !== undefined && received >= HEAD_BYTES + wanted) settle(answered(Buffer.concat(chunks).subarray(HEAD_BYTES, HEAD_BYTES + wanted)));
    };
    const connect = () => {
      connection = net.connect({ path });
      connection.on('connect', () => connection.write(frame));
      connection.on('data', hear);
      connection.on('error', (error) => {
        // The queue of the socket is full: ask again.
        if (error.code === 'EAGAIN' && Date.now() - began < CONNECT_MS) timers.push(setTimeout(connect, RETRY_MS));
        else settle({ broken: error.code === 'EAGAIN' ? 'the supervisor takes no connection' : error.message });
      });
      connection.on('end', () => settle({ broken: 'the supervisor closed the connection' }));
    };
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      settle({ aborted });
      return;
    }
    for (const signal of signals) signal.addEventListener('abort', abort);
    if (timeoutS !== undefined) timers.push(setTimeout(() => settle({ isLate: true }), Math.min((timeoutS + GRACE_S) * 1000, TIMER_MS)));
    connect();
  });
}

function answered(data) {
  try {
    const answer = JSON.parse(data.toString('utf8'));
    if (typeof answer === 'object' && answer !== null) return { answer };
  } catch {
    // Said below.
  }
  return { broken: 'an answer that is no JSON object' };
}

function framed(message) {
  let text;
  try {
    text = Buffer.from(JSON.stringify(message, plain));
  } catch (error) {
    throw new ToolRunnerError(`the arguments are no JSON: ${error.message}\nPass texts, numbers, lists and objects.`, message.server, message.tool);
  }
  if (text.length > FRAME_BYTES) {
    throw new ToolRunnerError(`the arguments have ${text.length} bytes, and ${FRAME_BYTES} at most are sent: pass less`, message.server, message.tool);
  }
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(text.length);
  return Buffer.concat([head, text]);
}

/** What code passes besides JSON's own types, and what JSON.stringify would change without a word. */
function plain(key, value) {
  const given = this[key]; // a Buffer is no longer one in `value`
  if (typeof given === 'number' && !Number.isFinite(given)) throw new TypeError(`a number that is ${given}`);
  if (given instanceof Set) return [...given];
  if (given instanceof Map) return Object.fromEntries(given);
  if (given instanceof Uint8Array || given instanceof ArrayBuffer || given instanceof DataView) {
    throw new TypeError("bytes: pass a text, such as Buffer.from(bytes).toString('base64')");
  }
  return ArrayBuffer.isView(given) ? Array.from(given) : value;
}

module.exports = { ask };
