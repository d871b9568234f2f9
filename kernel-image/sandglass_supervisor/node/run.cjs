'use strict';
// One run of a cell: its variables of the environment, what it waits for, and how it fails from outside.

const process = require('node:process');
const { AbortController, Error, Map, Object, Promise, Set } = globalThis; // code may put anything else there

class Interrupted extends Error {
  name = 'Interrupted';

  constructor() {
    super('the run was interrupted');
  }
}

/** What `process.exit` throws: it ends the run, as it would have ended a program, and the kernel stays. */
class Left extends Error {
  name = 'Exit';

  constructor(code) {
    super(`process.exit(${code})`);
    this.code = code;
  }
}

class Run {
  result = undefined;
  failure = null;
  isDone = false;
  #waits = new Set();
  #before = new Map();
  #interrupts = new AbortController();

  constructor(number, envs) {
    this.number = number;
    for (const [name, value] of Object.entries(envs)) {
      this.#before.set(name, process.env[name]);
      process.env[name] = value;
    }
  }

  /** A promise of the same, which `fail` can reject before. */
  wait(promise) {
    return new Promise((resolve, reject) => {
      this.#waits.add(reject);
      const settle = (how) => (value) => {
        this.#waits.delete(reject);
        how(value);
      };
      Promise.resolve(promise).then(settle(resolve), settle(reject));
    });
  }

  /** Aborted by the next interrupt: for what goes on beside the code, such as calls of tools. */
  get interrupts() {
    return this.#interrupts.signal;
  }

  /** Throws where the code waits now; false if it does not wait. */
  interrupt(error) {
    const waits = [...this.#waits];
    const interrupts = this.#interrupts;
    this.#waits.clear();
    this.#interrupts = new AbortController();
    for (const reject of waits) reject(error);
    // Always this reason: an error of the code would be told once more for each call that nobody awaits.
    interrupts.abort(new Interrupted());
    return waits.length > 0;
  }

  /** An error that no code caught: it ends the run, as it would have ended a program. */
  fail(error) {
    if (this.failure !== null) return;
    this.failure = { error };
    this.interrupt(error);
  }

  /** True from `process.exit` on: code that catches what that throws is heard no more. */
  get hasLeft() {
    return this.failure?.error instanceof Left;
  }

  /** Takes back what the run had set. */
  leave() {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

module.exports = { Interrupted, Left, Run };
