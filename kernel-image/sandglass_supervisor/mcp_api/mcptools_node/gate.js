'use strict';
// At most 32 calls of this process at once for each server; others wait. The supervisor would refuse more.

const CALLS = 32;
const gates = new Map();

/** Does the work when there is room, in the order of asking; a signal ends the waiting. */
async function entered(server, signals, work) {
  const gate = gates.get(server) ?? { inside: 0, waiting: new Set() };
  gates.set(server, gate);
  if (gate.inside < CALLS) gate.inside += 1;
  else await turn(gate, signals);
  try {
    return await work();
  } finally {
    const [next] = gate.waiting;
    // The place goes to the next one, or is free.
    if (next !== undefined) next();
    else if (--gate.inside === 0) gates.delete(server);
  }
}

function turn(gate, signals) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      gate.waiting.delete(enter);
      for (const signal of signals) signal.removeEventListener('abort', abort);
    };
    const enter = () => {
      leave();
      resolve();
    };
    const abort = (event) => {
      leave();
      reject(event.target.reason);
    };
    const aborted = signals.find((signal) => signal.aborted);
    if (aborted !== undefined) {
      reject(aborted.reason);
      return;
    }
    gate.waiting.add(enter);
    for (const signal of signals) signal.addEventListener('abort', abort);
  });
}

module.exports = { entered };
