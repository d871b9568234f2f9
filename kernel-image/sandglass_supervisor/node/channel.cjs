'use strict';
// Messages to the supervisor, whole and in order. Writing blocks when it does not read: nothing piles up here.

const fs = require('node:fs');
const limits = require('./limits.cjs');

const HEADER_BYTES = 4;

class Channel {
  #descriptor;
  #unsent = null;

  constructor(descriptor) {
    this.#descriptor = descriptor;
  }

  /** `run` is the number of the run that it belongs to; `content` is what Jupyter calls so. */
  send(kind, run, content) {
    const body = Buffer.from(`${kind}\n${run}\n${JSON.stringify(content)}`);
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

function cut(text, limit) {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half)}\n[... ${text.length - 2 * half} characters left out ...]\n${text.slice(-half)}`;
}

/** The data of a result or of what is shown, by media type, within bounds. */
function bounded(data) {
  const kept = {};
  for (const [mime, value] of Object.entries(data)) {
    const size = typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
    if (mime.startsWith('text/')) kept[mime] = cut(value, limits.TEXT_CHARS);
    else if (size <= limits.PICTURE_CHARS) kept[mime] = value;
    else return { 'text/plain': `[${mime} of ${size} characters was left out: too large; save it to a file]` };
  }
  return kept;
}

module.exports = { Channel, bounded, cut };
