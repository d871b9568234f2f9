'use strict';
// The programs that code starts: they write to the standard descriptors themselves, past the messages.

const programs = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');
const { Object, Reflect } = globalThis; // code may put anything else there

/** Has `before` called each time that code is about to start a program. */
function announce(before) {
  for (const name of ['spawnSync', 'execSync', 'execFileSync']) wrap(programs, name, before);
  wrap(programs.ChildProcess.prototype, 'spawn', before); // all the others come here
  syncBuiltinESMExports();
}

function wrap(owner, name, before) {
  const start = owner[name];
  const { [name]: value } = {
    [name](...given) {
      before();
      return Reflect.apply(start, this, given);
    },
  };
  Object.defineProperty(owner, name, { value });
}

module.exports = { announce };
