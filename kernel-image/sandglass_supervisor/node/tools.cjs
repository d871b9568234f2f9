'use strict';
// Finds mcptools, and has the functions of a server written before they are first imported. It is found as well when the
// link to it is gone from node_modules (`npm install` removes what it did not install), or was never there.

const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { registerHooks } = require('node:module');
const path = require('node:path');
const process = require('node:process');
const { pathToFileURL } = require('node:url');
const { Map } = globalThis; // code may put anything else there

const OURS = /^mcptools(?:\/(\w+))?$/;
const RUNTIME = path.join(__dirname, '..', 'mcp_api', 'mcptools_node');
const LOAD = path.join(RUNTIME, 'load.js');
const OUTPUT_BYTES = 64 * 1024;

/** Knows which servers' functions were seen to, and where they are below the workspace. */
class Tools {
  #folder;
  #interrupts;
  #seen = new Map(); // by server: why there are no functions, or null
  #isOurs = false; // the package that the code has is this installation's, and not the workspace's

  /** `interrupts` gives the signal of the run that is on. */
  constructor(workspace, interrupts) {
    this.#folder = path.join(workspace, 'mcptools', 'node_modules', 'mcptools');
    this.#interrupts = interrupts;
  }

  /** Before an import that can wait: what is to be awaited, or null. */
  ready(specifier) {
    const [, server] = (typeof specifier === 'string' && OURS.exec(specifier)) || [];
    return server === undefined || this.#seen.get(server) === null ? null : this.#load(server);
  }

  async #load(server) {
    const { loaded } = require(LOAD);
    const signal = this.#interrupts();
    const error = await loaded(server, signal === undefined ? [] : [signal]);
    this.#seen.set(server, error === null ? null : error.message);
  }

  resolve(specifier, context, next) {
    const [isAsked, server] = OURS.exec(specifier) ?? [];
    if (!isAsked) return this.#isOurs && this.#isRuntime(specifier, context) ? found(path.join(RUNTIME, 'runtime.js')) : next(specifier, context);
    if (server === undefined) return this.#package(specifier, context, next);
    if (!this.#seen.has(server)) this.#seen.set(server, loadedNow(server));
    const why = this.#seen.get(server);
    if (why !== null) this.#seen.delete(server); // asked again the next time
    try {
      return next(specifier, context);
    } catch (error) {
      const file = path.join(this.#folder, server, 'index.js');
      if (existsSync(file)) return found(file);
      if (why !== null) error.message = `there are no functions of server '${server}': ${why}`;
      throw error;
    }
  }

  #package(specifier, context, next) {
    if (this.#isOurs) return found(path.join(RUNTIME, 'index.js'));
    try {
      return next(specifier, context);
    } catch {
      const file = path.join(this.#folder, 'index.js');
      if (existsSync(file)) return found(file);
      this.#isOurs = true;
      return found(path.join(RUNTIME, 'index.js'));
    }
  }

  /** True for what a server's module asks for: it must be of the package that the code has, so that errors are the same. */
  #isRuntime(specifier, { parentURL = '' }) {
    return specifier === '../runtime.js' && parentURL.startsWith(pathToFileURL(this.#folder).href);
  }
}

/** Has `mcptools` and `mcptools/SERVER` found; gives what is to be awaited before an import. */
function findTools(workspace, interrupts) {
  const tools = new Tools(workspace, interrupts);
  // An older Node than is supported has none: there the link alone leads to it.
  registerHooks?.({ resolve: (specifier, context, next) => tools.resolve(specifier, context, next) });
  return (specifier) => tools.ready(specifier);
}

/** Waits for the functions; null, or why there are none. */
function loadedNow(server) {
  const done = spawnSync(process.execPath, [LOAD, server], { encoding: 'utf8', maxBuffer: OUTPUT_BYTES, stdio: ['ignore', 'pipe', 'ignore'] });
  if (done.error) return done.error.message;
  return done.status === 0 ? done.stdout || null : 'the program that loads them did not end well';
}

function found(file) {
  return { url: pathToFileURL(file).href, format: 'commonjs', shortCircuit: true };
}

module.exports = { findTools };
