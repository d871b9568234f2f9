'use strict';
// A thread beside the code's: it hears that a run is to stop even while the code never lets go of its thread.

const inspector = require('node:inspector');
const net = require('node:net');
const { parentPort, workerData } = require('node:worker_threads');
const { HEARD_MS } = require('./limits.cjs');

const { BEGUN, RUNNING, STOP, HEARD, ENDING, READ } = workerData.cells;
const state = workerData.state;

/** Asks the code's thread; if it does not hear within a moment, ends what JavaScript runs there. */
function stop(run) {
  if (isOver(run)) return;
  Atomics.store(state, HEARD, 0);
  Atomics.store(state, STOP, run);
  parentPort.postMessage({ stop: run });
  setTimeout(() => {
    if (!isOver(run) && Atomics.load(state, HEARD) !== run) end(run);
  }, HEARD_MS);
}

/** False also for a run that could not begin yet, because what an earlier one left behind never lets go. */
function isOver(run) {
  return Atomics.load(state, BEGUN) >= run && Atomics.load(state, RUNNING) !== run;
}

function end(run) {
  // From here until it has happened the other thread begins nothing that must not be ended.
  if (Atomics.compareExchange(state, ENDING, 0, 1) !== 0) return;
  // Connected only now: Node waits for those who are when its process ends.
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post('Runtime.terminateExecution', () => {
    session.disconnect();
    Atomics.store(state, ENDING, 0);
    Atomics.notify(state, ENDING);
    parentPort.postMessage({ ended: run });
  });
  // What ends is the next that runs, if nothing does at that moment: let it be this.
  parentPort.postMessage({});
}

function tellRead(mark) {
  Atomics.store(state, READ, mark);
  Atomics.notify(state, READ);
}

let line = '';
const stops = new net.Socket({ fd: workerData.descriptor, readable: true, writable: false });
stops.setEncoding('latin1');
stops.on('error', () => {});
stops.on('data', (text) => {
  const lines = (line + text).split('\n');
  line = lines.pop().slice(-16);
  for (const word of lines) {
    if (word.startsWith('=')) tellRead(Number(word.slice(1)));
    else stop(Number(word));
  }
});
