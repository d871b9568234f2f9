'use strict';
// What cells find: `require`, `import`, `display`, the standard streams and the console, as in a file of the workspace.

const { Buffer } = require('node:buffer');
const { Console } = require('node:console');
const Module = require('node:module');
const path = require('node:path');
const process = require('node:process');
const { pathToFileURL } = require('node:url');
const util = require('node:util');
const { HELPER, asWritten } = require('./cell.cjs');
const limits = require('./limits.cjs');
const { Input, Output } = require('./streams.cjs');
const { findTools } = require('./tools.cjs');
// Code may put anything else there.
const { ArrayBuffer, Object, Promise, Proxy, Reflect, Symbol, SyntaxError, TypeError, Uint8Array } = globalThis;

/** `kernel` is {write(name, text), show(data), present(), refuse(error), exit(code), wait(value), result(number, value), interrupts()}. */
function arrange(kernel) {
  // Programs that are started with Node's own options must not inherit the kernel's.
  process.execArgv = [];
  process.argv = [process.execPath];
  const place = asFile(path.join(process.cwd(), 'code.js'));
  define(process, 'stdout', new Output(1, (text) => kernel.write('stdout', text)));
  define(process, 'stderr', new Output(2, (text) => kernel.write('stderr', text)));
  Object.defineProperty(process, 'stdin', { get: inputOf(kernel), configurable: true, enumerable: true });
  define(process, 'exit', (code) => kernel.exit(code));
  const { stdout, stderr } = process;
  const console = new Console({ stdout, stderr, ignoreErrors: false });
  console.Console = Console;
  for (const [name, value] of Object.entries({ ...place.globals, console })) define(globalThis, name, value);
  define(globalThis, 'display', (...given) => kernel.show(displayed(...given)));
  const ready = findTools(process.cwd(), kernel.interrupts);
  // For mcptools, which cancels calls when the run is interrupted (mcp_api/mcptools_node/runtime.js).
  Object.defineProperty(globalThis, Symbol.for('sandglass.interrupts'), { value: kernel.interrupts });
  Object.defineProperty(globalThis, HELPER, { value: Object.freeze(helper(kernel, place, ready)) });
  define(Function.prototype, 'toString', sourceOf(Function.prototype.toString));
}

/** A function's source as the code has it: it may be given to a worker, a browser or a `vm`, where our helper is not. */
function sourceOf(native) {
  const shown = new Proxy(native, {
    apply: (_, self) => asWritten(Reflect.apply(native, self === shown ? native : self, [])),
  });
  return shown;
}

/** One for each run: a stream that has refused once would not do so again. */
function inputOf({ present, refuse }) {
  let input = null;
  let reader = null;
  return () => {
    if (input === null || present() !== reader) [input, reader] = [new Input(refuse), present()];
    return input;
  };
}

/** What code in that file would find around it; the file itself need not exist. */
function asFile(file) {
  const module = new Module(file);
  module.filename = file;
  module.paths = Module._nodeModulePaths(path.dirname(file));
  process.mainModule = module;
  module._compile('module.exports = { require, load: (name, options) => import(name, options) };', file);
  const { require, load } = module.exports;
  module.exports = {};
  const globals = { require, module, exports: module.exports, __filename: file, __dirname: path.dirname(file) };
  return { globals, load, meta: { url: pathToFileURL(file).href, filename: file, dirname: path.dirname(file) } };
}

/** What the rewritten source of a cell calls; see cell.cjs. */
function helper({ wait, result }, { load: begin, meta }, ready) {
  const load = (name, options) => ready(name)?.then(() => begin(name, options)) ?? begin(name, options);
  return {
    wait,
    result,
    load,
    meta: Object.freeze(meta),
    async importing(name, attributes, wanted) {
      const found = await wait(load(name, Object.keys(attributes).length > 0 ? { with: attributes } : undefined));
      const missing = wanted.find((exported) => !(exported in found));
      if (missing !== undefined) throw new SyntaxError(`The requested module '${name}' does not provide an export named '${missing}'`);
      return found;
    },
    each(iterable) {
      const begin = iterable?.[Symbol.asyncIterator];
      if (begin === undefined && iterable?.[Symbol.iterator] === undefined) {
        throw new TypeError(`${util.inspect(iterable, { depth: 0 })} is not async iterable`);
      }
      return begin === undefined ? iterable : { [Symbol.asyncIterator]: () => steps(begin.call(iterable), wait) };
    },
  };
}

function steps(iterator, wait) {
  return {
    next: async (value) => {
      try {
        return await wait(iterator.next(value));
      } catch (error) {
        Promise.resolve(iterator.return?.()).catch(() => {});
        throw error;
      }
    },
    return: async (value) => (iterator.return ? await iterator.return(value) : { done: true, value }),
  };
}

/** display(value), or display(mediaType, data) with data as text, bytes, or base64 of a picture. */
function displayed(mime, data) {
  if (data === undefined) return { 'text/plain': util.inspect(mime, limits.INSPECT) };
  if (typeof mime !== 'string' || !/^[\w.+-]+\/[\w.+-]+$/.test(mime)) {
    throw new TypeError("display(mediaType, data): mediaType must be a text such as 'image/png'");
  }
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) {
    const bytes = Buffer.from(data.buffer ?? data, data.byteOffset, data.byteLength);
    return { [mime]: bytes.toString(mime.startsWith('text/') || mime.endsWith('+xml') ? 'utf8' : 'base64') };
  }
  if (mime === 'application/json' && typeof data !== 'string') return { [mime]: data };
  if (typeof data !== 'string') throw new TypeError('display(mediaType, data): data must be a text, a Buffer or a Uint8Array');
  return { [mime]: data };
}

function define(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

module.exports = { arrange };
