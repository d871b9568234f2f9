'use strict';
// What an error looks like to whoever wrote the code: its own lines, and none of the kernel's.

const util = require('node:util');
const path = require('node:path');
const { asWritten } = require('./cell.cjs');
const { cut } = require('./channel.cjs');
const { originalColumn } = require('./edits.cjs');
const limits = require('./limits.cjs');
const { Buffer, Error, Map, Math, Number, Object, RegExp, String } = globalThis; // code may put anything else there

const HERE = path.dirname(__filename);
const named = Function.prototype.call.bind(Error.prototype.toString);
const markOfNodes = symbolOfNodes();
const PLACE = /\bcell-(\d+):(\d+):(\d+)/g;

/** Sources of the newest cells, with the moves of their columns, by number. */
class Errors {
  #cells = new Map();
  #chars = 0;

  keep(number, source, moves) {
    this.#cells.set(number, { lines: source.split('\n'), moves, chars: source.length });
    this.#chars += source.length;
    for (const [oldest, { chars }] of this.#cells) {
      if (this.#cells.size <= limits.CELLS_KEPT && this.#chars <= limits.CELLS_KEPT_CHARS) break;
      this.#cells.delete(oldest);
      this.#chars -= chars;
    }
  }

  /** The content of Jupyter's message of the same name. */
  describe(thrown) {
    const isError = util.types.isNativeError(thrown) || thrown instanceof Error;
    const name = isError ? String(safely(() => thrown.name) || 'Error') : 'Uncaught';
    const message = isError ? String(safely(() => thrown.message) ?? '') : safely(() => util.inspect(thrown, limits.INSPECT));
    const traceback = this.#traceback(isError ? thrown : `Uncaught ${message}`);
    return { ename: cut(name, 1000), evalue: cut(asWritten(message), limits.TRACEBACK_BYTES), traceback: traceback.split('\n') };
  }

  /** What `stack` says everywhere: the frames of the code, with the columns of its source. */
  stack(error, frames) {
    const shown = frames.map(String).filter((frame) => !isOurs(frame) && !this.#isAdded(frame));
    return [safely(() => headline(error)), ...shown].join('\n    at ').replace(PLACE, this.#original);
  }

  /** True for a line that is in no source: the end of the function that an asynchronous cell becomes. */
  #isAdded(frame) {
    const [, number, line] = new RegExp(PLACE.source).exec(frame) ?? [];
    const cell = this.#cells.get(Number(number));
    return cell !== undefined && Number(line) > cell.lines.length;
  }

  #original = (_, number, line, column) => `cell-${number}:${line}:${this.#column(number, line, column)}`;

  #traceback(thrown) {
    const text = typeof thrown === 'string' ? thrown : safely(() => util.inspect(thrown, limits.INSPECT));
    // An error without frames comes in brackets.
    const bare = /^\[[^]*\]$/.test(text) ? text.slice(1, -1) : text;
    return cut(`${this.#excerpt(bare)}${asWritten(bare)}`, limits.TRACEBACK_BYTES);
  }

  #column(number, line, column) {
    return originalColumn(this.#cells.get(Number(number))?.moves[line - 1], column - 1) + 1;
  }

  /** The line of code that the first frame names; an error of syntax has it in its text already. */
  #excerpt(text) {
    const [place, number, line, column] = new RegExp(PLACE.source).exec(text) ?? [];
    const source = place && this.#cells.get(Number(number))?.lines[line - 1];
    if (!source || source.length > 500) return '';
    return `cell-${number}:${line}\n${source}\n${' '.repeat(Math.max(0, column - 1))}^\n`;
  }
}

/** As Node words it: its own errors with their code, others by name and message, also what is none, as of console.trace. */
function headline(error) {
  return markOfNodes in error ? String(error) : named(error);
}

/** What Node's own errors are known by. */
function symbolOfNodes() {
  try {
    Buffer.from(0);
  } catch (error) {
    return Object.getOwnPropertySymbols(Object.getPrototypeOf(error)).find((symbol) => symbol.description === 'kIsNodeError');
  }
}

function isOurs(frame) {
  return frame.includes(HERE) || /\bnode:(?:internal|vm|events|async_hooks|net)\b/.test(frame);
}

/** Getters of the thrown value are code that may throw as well. */
function safely(read) {
  try {
    return read();
  } catch {
    return '[it cannot be shown]';
  }
}

module.exports = { Errors };
