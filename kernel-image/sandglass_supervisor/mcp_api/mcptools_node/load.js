'use strict';
// Has the functions of a server written: by loaded(), or as a program, for those who cannot wait for a promise.

const process = require('node:process');
const { ofKind } = require('./errors.js');
const { ask } = require('./wire.js');

/** Resolves when the functions are there; null, or the error that says why they are not. */
async function loaded(server, signals = []) {
  try {
    const answer = await ask({ op: 'load', server }, undefined, signals);
    return typeof answer.result === 'object' && answer.result !== null ? null : ofKind(answer.error, server);
  } catch (error) {
    if (signals.some((signal) => signal.aborted)) throw error;
    return error;
  }
}

async function main() {
  const error = await loaded(process.argv[2]);
  process.stdout.write(error === null ? '' : String(error.message));
}

if (require.main === module) main();

module.exports = { loaded };
