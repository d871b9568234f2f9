'use strict';
// The Node kernel: runs cells one after the other in this process and keeps what they declare. Started by the
// supervisor (node_process.py) with three descriptors: requests and stops to read, messages to write.

const { AsyncLocalStorage } = require('node:async_hooks');
const net = require('node:net');
const path = require('node:path');
const process = require('node:process');
const { setImmediate, setTimeout } = require('node:timers');
const util = require('node:util');
const vm = require('node:vm');
const { Worker } = require('node:worker_threads');
const { prepare } = require('./cell.cjs');
const { Channel, bounded } = require('./channel.cjs');
const { Errors } = require('./errors.cjs');
const { arrange } = require('./globals.cjs');
const limits = require('./limits.cjs');
const { announce } = require('./programs.cjs');
const { Interrupted, Left, Run } = require('./run.cjs');
const { Atomics, Error, JSON, Number, Object, Promise } = globalThis; // code may put anything else there

// For what the code evaluates: the `import` of cells themselves is rewritten, and begins in the workspace.
const LOADER = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const [REQUESTS, MESSAGES, STOPS] = [3, 4, 5];
// Shared with the guard: which run began last, which is on, which is to stop, which has heard so, whether one is being
// ended, and the last mark in the messages that the supervisor has read.
const CELLS = { BEGUN: 0, RUNNING: 1, STOP: 2, HEARD: 3, ENDING: 4, READ: 5 };

class Kernel {
  #channel = new Channel(MESSAGES);
  #context = new AsyncLocalStorage();
  #errors = new Errors();
  #state = new Int32Array(new SharedArrayBuffer(4 * Object.keys(CELLS).length));
  #run = null;
  #next = null;
  #last = 0; // the number of the run that began last
  #unmarked = false; // more was written than the last mark tells of
  #mark = 0;

  start() {
    process.on('uncaughtException', (error) => this.#stray(error));
    process.on('unhandledRejection', (error) => this.#stray(error));
    // It is meant for programs that the code started; the code itself is stopped by the guard.
    process.on('SIGINT', () => {});
    Error.prepareStackTrace = (error, frames) => this.#errors.stack(error, frames);
    arrange({
      write: (name, text) => this.#say('stream', { name, text }),
      show: (data) => this.#say('display_data', { data: bounded(data) }),
      present: () => this.#present(),
      refuse: (error) => this.#present()?.interrupt(error) || this.#stray(error),
      exit: (code) => this.#exit(code),
      wait: (value) => this.#wait(value),
      result: (number, value) => this.#keep(number, value),
      interrupts: () => this.#present()?.interrupts,
    });
    announce(() => this.#catchUp());
    this.#listen();
    this.#channel.send('ready', 0, {});
  }

  #listen() {
    const guard = new Worker(path.join(__dirname, 'guard.cjs'), {
      workerData: { state: this.#state, cells: CELLS, descriptor: STOPS },
      env: {},
      execArgv: [],
    });
    guard.on('message', ({ stop, ended }) => {
      if (stop) this.#stop(stop);
      if (ended) this.#ended(ended);
    });
    guard.on('error', () => {}); // without it a busy run is killed instead of stopped
    let line = '';
    const requests = new net.Socket({ fd: REQUESTS, readable: true, writable: false });
    requests.setEncoding('utf8');
    requests.on('data', (text) => {
      const lines = (line + text).split('\n');
      line = lines.pop();
      for (const request of lines) {
        this.#next = JSON.parse(request);
        this.#begin();
      }
    });
  }

  #begin() {
    if (this.#next === null || this.#run !== null) return;
    // The run before may be about to be ended: what begins now must not be what it hits.
    while (Atomics.load(this.#state, CELLS.ENDING) !== 0) Atomics.wait(this.#state, CELLS.ENDING, 1, 10);
    const { run: number, code, envs, variables } = this.#next;
    this.#next = null;
    // With the first run of a kernel that was started ahead: variables of the sandbox, which stay.
    for (const [name, value] of Object.entries(variables)) process.env[name] = value;
    const run = new Run(number, envs);
    this.#run = run;
    this.#last = number;
    Atomics.store(this.#state, CELLS.RUNNING, number);
    Atomics.store(this.#state, CELLS.BEGUN, number);
    this.#context.run(run, () => this.#execute(run, code));
  }

  async #execute(run, code) {
    this.#say('execute_input', {});
    let failure = null;
    try {
      const shown = await this.#evaluate(run, code);
      // A turn of the event loop, in which Node tells of promises that were rejected and that nobody awaits.
      await new Promise((resolve) => setImmediate(resolve));
      if (run.failure === null && shown !== null && !run.isDone) this.#say('execute_result', { data: shown });
    } catch (error) {
      failure = { error };
    }
    this.#finish(run, run.failure ?? failure);
  }

  async #evaluate(run, code) {
    const file = `cell-${run.number}`;
    const { code: ready, moves, names, isAsync } = prepare(code, file, run.number);
    this.#errors.keep(run.number, code, moves);
    for (const name of names) freeName(name);
    const value = new vm.Script(ready, { filename: file, importModuleDynamically: LOADER }).runInThisContext({ displayErrors: false });
    if (isAsync) await value;
    const result = util.types.isPromise(run.result) ? await this.#wait(run.result) : run.result;
    run.result = undefined;
    return result === undefined ? null : bounded({ 'text/plain': util.inspect(result, limits.INSPECT) });
  }

  #finish(run, failure) {
    if (run.isDone) return;
    Atomics.store(this.#state, CELLS.RUNNING, 0);
    Atomics.store(this.#state, CELLS.STOP, 0);
    run.leave();
    const isWell = failure === null || (failure.error instanceof Left && failure.error.code === 0);
    const reply = isWell ? { status: 'ok' } : { status: 'error', ...this.#errors.describe(failure.error) };
    this.#channel.send('status', run.number, { execution_state: 'idle' });
    this.#channel.send('execute_reply', run.number, { execution_count: run.number, ...reply });
    run.isDone = true;
    this.#run = null;
    this.#begin();
  }

  /** The guard asks for it; this thread hears it because it is not busy. */
  #stop(number) {
    Atomics.store(this.#state, CELLS.HEARD, number);
    if (this.#run?.number !== number) return;
    // Where the code came to an await meanwhile, all its awaits have thrown; once more would cut what it cleans up.
    if (Atomics.compareExchange(this.#state, CELLS.STOP, number, 0) !== number) return;
    // Where it awaits nothing itself, it is stopped at its next await.
    if (!this.#run.interrupt(new Interrupted())) Atomics.store(this.#state, CELLS.STOP, number);
  }

  /**
   * The guard has ended whatever ran here: functions of the kernel too, so that what they left undone is done now. If it
   * hit Node in the midst of its own books, callbacks may never come again: then this run does not end, and is killed.
   */
  #ended(number) {
    setImmediate(() => {
      setTimeout(() => {
        if (this.#run?.number === number) {
          this.#run.interrupt(new Interrupted());
          this.#finish(this.#run, { error: new Interrupted() });
        }
        this.#begin();
      }, 1);
    });
  }

  #wait(value) {
    const run = this.#context.getStore();
    if (run === undefined || run.isDone) return value;
    if (Atomics.compareExchange(this.#state, CELLS.STOP, run.number, 0) === run.number) {
      Atomics.store(this.#state, CELLS.HEARD, run.number);
      run.interrupt(new Interrupted());
      Promise.resolve(value).catch(() => {});
      throw new Interrupted();
    }
    return typeof value?.then === 'function' ? run.wait(value) : value;
  }

  #keep(number, value) {
    if (this.#run?.number === number) this.#run.result = value;
    return value;
  }

  /** Ends the run that it is called in, and what the code does now. */
  #exit(code) {
    const given = Number(code ?? process.exitCode ?? 0);
    process.exitCode = undefined;
    const left = new Left(given);
    const run = this.#present();
    if (run && !run.isDone) run.fail(left);
    throw left;
  }

  /** An error that no code caught: of the present run it is the end, of an earlier one it is printed. */
  #stray(error) {
    if (error instanceof Interrupted) return;
    const run = this.#present();
    if (run && !run.isDone) run.fail(error);
    else if (!(error instanceof Left)) this.#say('stream', { name: 'stderr', text: `${this.#errors.describe(error).traceback.join('\n')}\n` });
  }

  /** The run that the running code belongs to, also when that began it and it goes on after the run's end. */
  #present() {
    return this.#context.getStore() ?? this.#run;
  }

  /** It belongs to the run that is on, whoever says it; between two runs to the one that ended. */
  #say(kind, content) {
    if (this.#run?.hasLeft) return;
    this.#channel.send(kind, this.#last, content);
    this.#unmarked = true;
  }

  /** Waits until all that was written has been read, but not for ever: readers may be behind. */
  #catchUp() {
    if (!this.#unmarked) return;
    this.#mark += 1;
    this.#channel.send('mark', this.#mark, {});
    this.#unmarked = false;
    const read = Atomics.load(this.#state, CELLS.READ);
    if (read < this.#mark) Atomics.wait(this.#state, CELLS.READ, read, limits.CATCH_UP_MS);
  }
}

/** Makes a name of Node's own that could not be assigned to, such as `crypto`, one that a cell can declare. */
function freeName(name) {
  const property = Object.getOwnPropertyDescriptor(globalThis, name);
  if (!property?.configurable || property.writable) return;
  Object.defineProperty(globalThis, name, { value: globalThis[name], writable: true, configurable: true, enumerable: true });
}

new Kernel().start();
