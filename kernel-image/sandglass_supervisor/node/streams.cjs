'use strict';
// The standard streams of the code: output becomes messages, input cannot be had.

const { Readable, Writable } = require('node:stream');
const { StringDecoder } = require('node:string_decoder');
const { SLICE_BYTES } = require('./limits.cjs');
const { ArrayBuffer, Buffer, Error, Symbol, TypeError } = globalThis; // code may put anything else there

const NO_INPUT = 'Nobody can answer here: pass the value in the code, a file or an environment variable.';
const DESTROYED = Symbol.for('nodejs.stream.destroyed');

/** Standard output or error. Nothing of a Writable's own state is used: an interrupt could leave it half changed. */
class Output extends Writable {
  #tell;
  #decoder = new StringDecoder('utf8');

  constructor(descriptor, tell) {
    super({ decodeStrings: false, autoDestroy: false, emitClose: false });
    this.setMaxListeners(0); // each pipeline leaves some behind, and this lives as long as the session
    this.fd = descriptor;
    this.#tell = tell;
  }

  write(chunk, encoding, callback) {
    const done = typeof encoding === 'function' ? encoding : callback;
    const text = this.#text(chunk, encoding);
    for (let start = 0; start < text.length; ) {
      let end = start + SLICE_BYTES;
      // No half of a surrogate pair in either slice.
      if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
      this.#tell(text.slice(start, end));
      start = end;
    }
    if (typeof done === 'function') process.nextTick(done, null);
    return true;
  }

  /** Who ended it hears that all is written; whoever comes next writes on, in this run or a later one. */
  end(chunk, encoding, callback) {
    const done = [chunk, encoding, callback].find((argument) => typeof argument === 'function');
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.write(chunk, encoding);
    process.nextTick(() => {
      done?.(null);
      this.emit('finish');
    });
    return this;
  }

  /** A pipeline whose source fails destroys what it writes to: as Node's own, this stays open. */
  destroy() {
    process.nextTick(() => this.emit('close'));
    return this;
  }

  /** So a pipeline marks for good what stays open; then `finished` and `toWeb` would take it for closed. */
  set [DESTROYED](_) {}

  #text(chunk, encoding) {
    if (typeof chunk === 'string') {
      const isText = typeof encoding !== 'string' || /^(utf-?8|buffer)$/i.test(encoding);
      return isText ? chunk : this.#decoder.write(Buffer.from(chunk, encoding));
    }
    if (ArrayBuffer.isView(chunk)) return this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    const error = new TypeError(`The "chunk" argument must be of type string, Buffer, TypedArray, or DataView. Received ${typeof chunk}`);
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  }
}

/** Standard input: who reads it is told why there is none. */
class Input extends Readable {
  fd = 0;
  #refuse;

  constructor(refuse) {
    super();
    this.#refuse = refuse;
  }

  read() {
    const error = new Error(NO_INPUT);
    error.name = 'NoInput';
    error.stack = `NoInput: ${NO_INPUT}`;
    this.#refuse(error);
    return null;
  }
}

module.exports = { Input, Output };
