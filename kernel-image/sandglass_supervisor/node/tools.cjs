'use strict';
// Finds mcptools when the link to it is gone from node_modules: `npm install` removes what it did not install.

const { existsSync } = require('node:fs');
const { registerHooks } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Has `mcptools` and `mcptools/SERVER` looked for where the link leads to, if they are found nowhere else. */
function findTools(workspace) {
  if (registerHooks === undefined) return; // an older Node than is supported: there the link alone leads to it
  registerHooks({
    resolve(specifier, context, next) {
      const [isOurs, server] = /^mcptools(?:\/(\w+))?$/.exec(specifier) ?? [];
      if (!isOurs) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (error) {
        const file = path.join(workspace, 'mcptools', 'node_modules', 'mcptools', server ?? '', 'index.js');
        if (!existsSync(file)) throw error;
        return { url: pathToFileURL(file).href, format: 'commonjs', shortCircuit: true };
      }
    },
  });
}

module.exports = { findTools };
