'use strict';
// Messages to the supervisor, whole and in order. Writing blocks when it does not read: nothing piles up here.

const fs = require('node:fs');
const limits = require('./limits.cjs');
const { Buffer, JSON, Math, Object } = globalThis; // code may put anything else there

const HEADER_BYTES = 4;
const WIDEST = 3; // bytes of UTF-8 for one unit of a string's length
const NOTE_BYTES = 64;

class Channel {
  #descriptor;
  #unsent = null;

  constructor(descriptor) {
    this.#descriptor = descriptor;
  }

  /** `run` is the number of the run that it belongs to; `content` is what Jupyter calls so. */
  send(kind, run, content) {
    const whole = packed(kind, run, content);
    // The supervisor kills who sends more than it takes.
    const body = whole.length <= limits.MESSAGE_BYTES ? whole : packed(kind, run, toldInstead(content, whole.length));
    const frame = Buffer.allocUnsafe(HEADER_BYTES + body.length);
    frame.writeUInt32BE(body.length);
    body.copy(frame, HEADER_BYTES);
    // An interrupt may end this function between any two steps: what it left over comes first.
    this.#unsent = this.#unsent === null ? frame : Buffer.concat([this.#unsent, frame]);
    this.#write();
  }

  #write() {
    while (this.#unsent.length > 0) this.#unsent = this.#unsent.subarray(fs.writeSync(this.#descriptor, this.#unsent));
    this.#unsent = null;
  }
}

function packed(kind, run, content) {
  return Buffer.from(`${kind}\n${run}\n${JSON.stringify(content)}`);
}

/** How a run ended, if the content says so, and a note where its output would be. */
function toldInstead({ status, execution_count, execution_state }, size) {
  return { status, execution_count, execution_state, data: note('a message', size) };
}

function note(what, size) {
  return { 'text/plain': `[${what} of ${size} bytes was left out: too large; save it to a file]` };
}

/** Text of at most `limit` bytes: the supervisor would cut what is longer once more, and this note away. */
function cut(text, limit) {
  if (text.length * WIDEST <= limit) return text;
  const data = Buffer.from(text);
  if (data.length <= limit) return text;
  const half = Math.floor((limit - NOTE_BYTES) / 2);
  const head = data.subarray(0, begin(data, half));
  const tail = data.subarray(begin(data, data.length - half));
  return `${head}\n[... ${data.length - head.length - tail.length} bytes left out ...]\n${tail}`;
}

/** Where the character begins that the byte at `index` belongs to. */
function begin(data, index) {
  while ((data[index] & 0xc0) === 0x80) index--;
  return index;
}

/** The data of a result or of what is shown, by media type, within bounds. */
function bounded(data) {
  const kept = {};
  for (const [mime, value] of Object.entries(data)) {
    const size = Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
    if (mime.startsWith('text/')) kept[mime] = cut(value, limits.TEXT_BYTES);
    else if (size <= limits.PICTURE_BYTES) kept[mime] = value;
    else return note(mime, size);
  }
  return kept;
}

module.exports = { Channel, bounded, cut };
