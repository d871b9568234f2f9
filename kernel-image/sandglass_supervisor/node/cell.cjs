'use strict';
// A cell's source made ready to run (pure): what its top level declares is kept and may be declared again, `await` can
// be interrupted wherever it stands, `import` works, and the value of the last expression is handed over.

// Part of every Node: the parser behind its own top-level await; needs --expose-internals.
const { Parser } = require('internal/deps/acorn/acorn/dist/acorn');
const walk = require('internal/deps/acorn/acorn-walk/dist/walk');
const { Edits } = require('./edits.cjs');
const { JSON, Math, Object, Set, SyntaxError } = globalThis; // code may put anything else there

// No text of the code's own has this name by accident, so that what was rewritten can be told by it.
const HELPER = `__sandglass_${Math.random().toString(36).slice(2)}`;
const END = `), ${HELPER})`; // no comment: the source of an arrow function ends before one
const REWRITTEN = [
  [`${HELPER}.wait((`, ''],
  [`${HELPER}.each((`, ''],
  [END, ''],
  [`${HELPER}.load`, 'import'],
  [`${HELPER}.meta`, 'import.meta'],
];
const split = Function.prototype.call.bind(String.prototype.split);
const join = Function.prototype.call.bind(Array.prototype.join);
const OPTIONS = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  locations: true,
};
const NEW_SCOPE = /Function|StaticBlock|PropertyDefinition/;
const NO_EXPORT = "'export' has no meaning here: what the top level declares is kept anyway";

/** {code, moves, names, isAsync}: `names` are the globals it declares; asynchronous code's value is a promise. */
function prepare(source, file, number) {
  return new Rewriter(source, file).rewrite(number);
}

class Rewriter {
  constructor(source, file) {
    this.source = source.replace(/^#!/, '//');
    this.file = file;
    this.edits = new Edits();
    this.names = new Set();
    this.hoisted = '';
    this.tree = this.parse();
    this.found = survey(this.tree);
  }

  parse() {
    try {
      return Parser.parse(this.source, OPTIONS);
    } catch (error) {
      throw error.loc ? this.wrong(error.message.replace(/ \(\d+:\d+\)$/, ''), error.loc) : error;
    }
  }

  rewrite(number) {
    const { isAsync, awaits, loops, loads, metas, vars } = this.found;
    // From the inside out: of what ends at one place, the innermost ends first.
    for (const { argument } of awaits) this.wrap(argument, 'wait');
    for (const { right } of loops) this.wrap(right, 'each');
    for (const { start } of loads) this.edits.replace(start, start + 'import'.length, `${HELPER}.load`);
    for (const { start, end } of metas) this.edits.replace(start, end, `${HELPER}.meta`);
    for (const node of this.tree.body) this.statement(node);
    for (const [node, parent] of vars) if (parent !== this.tree) this.nested(node, parent);
    this.result(this.tree.body.at(-1), number);
    const names = [...this.names];
    if (!isAsync) return { ...this.edits.apply(this.source), names, isAsync };
    const head = names.length ? `var ${names.join(', ')}; ` : '';
    // A comment may be the last thing in the source.
    return { ...this.edits.apply(this.source, `${head}(async () => { ${this.hoisted}`, '\n})()'), names, isAsync };
  }

  wrap({ start, end }, call) {
    this.edits.insert(start, `${HELPER}.${call}((`);
    this.edits.insert(end, END);
  }

  statement(node) {
    switch (node.type) {
      case 'VariableDeclaration':
        this.declaration(node);
        break;
      case 'FunctionDeclaration':
        this.names.add(node.id.name);
        // It is there before the first statement runs.
        if (this.found.isAsync) this.hoisted += `globalThis.${node.id.name} = ${node.id.name}; `;
        break;
      case 'ClassDeclaration':
        this.names.add(node.id.name);
        this.edits.insert(node.start, `${this.found.isAsync ? '' : 'var '}${node.id.name} = `);
        this.edits.insert(node.end, ';');
        break;
      case 'ImportDeclaration':
        this.importing(node);
        break;
      case 'ExportAllDeclaration':
      case 'ExportDefaultDeclaration':
      case 'ExportNamedDeclaration':
        throw this.wrong(NO_EXPORT, node.loc.start);
    }
  }

  /** `let` and `const` of the top level become `var`, so that a later cell may declare the name again. */
  declaration(node) {
    if (!['var', 'let', 'const'].includes(node.kind)) return;
    this.declare(node);
    if (this.found.isAsync) {
      this.assign(node);
      return;
    }
    this.edits.replace(node.start, node.start + node.kind.length, 'var'.padEnd(node.kind.length));
    for (const { init, end } of node.declarations) {
      if (!init && node.kind === 'let') this.edits.insert(end, ' = undefined');
    }
    this.close(node);
  }

  /** A `var` in a block or in the head of a loop: it belongs to the top level too. */
  nested(node, parent) {
    this.declare(node);
    if (!this.found.isAsync) return;
    const [first] = node.declarations;
    if (parent.type.startsWith('For') && parent.body !== node) this.edits.replace(node.start, first.start, '');
    else this.assign(node);
  }

  declare({ declarations }) {
    for (const { id } of declarations) for (const name of namesOf(id)) this.names.add(name);
  }

  /** An assignment instead of a declaration: the names are declared outside the function that the cell becomes. */
  assign(node) {
    const { declarations, kind, start } = node;
    const dropped = this.source.slice(start, declarations[0].start);
    this.edits.replace(start, declarations[0].start, `void (${dropped.replace(/[^\n]/g, '')}`);
    for (const { id, init, end: behind } of declarations) {
      if (!init) this.edits.insert(behind, kind === 'var' ? ` = ${id.name}` : ' = undefined');
    }
    this.edits.insert(declarations.at(-1).end, ')');
    this.close(node);
  }

  /** A value at the end of a line would go on in a next line that begins with `(`, `[`, a template, a sign or a slash. */
  close({ end }) {
    if (this.source[end - 1] !== ';') this.edits.insert(end, ';');
  }

  importing({ specifiers, source, attributes = [], start, end }) {
    const named = [];
    let space = '';
    for (const { type, imported, local } of specifiers) {
      this.names.add(local.name);
      if (type === 'ImportNamespaceSpecifier') space = `${local.name} = `;
      else named.push([imported ? imported.name ?? imported.value : 'default', local.name]);
    }
    const wanted = JSON.stringify(named.map(([name]) => name));
    const given = JSON.stringify(Object.fromEntries(attributes.map(({ key, value }) => [key.name ?? key.value, value.value])));
    const pattern = named.map(([name, local]) => `${JSON.stringify(name)}: ${local}`).join(', ');
    const load = `${space}await ${HELPER}.importing(${JSON.stringify(source.value)}, ${given}, ${wanted})`;
    const newlines = this.source.slice(start, end).replace(/[^\n]/g, '');
    this.edits.replace(start, end, `void (${named.length ? `{${pattern}} = ` : ''}${load});${newlines}`);
  }

  result(last, number) {
    if (last?.type !== 'ExpressionStatement') return;
    this.edits.insert(last.start, `${HELPER}.result(${number}, (`);
    this.edits.insert(this.source[last.end - 1] === ';' ? last.end - 1 : last.end, '))');
  }

  wrong(message, { line, column }) {
    const error = new SyntaxError(message);
    error.stack = `${this.file}:${line}\n${this.source.split('\n')[line - 1] ?? ''}\n${' '.repeat(column)}^\nSyntaxError: ${message}`;
    return error;
  }
}

/** A text such as a function's source, with what was rewritten in it as the code has it. */
function asWritten(text) {
  return REWRITTEN.reduce((current, [ours, theirs]) => join(split(current, ours), theirs), text);
}

/** What is to be rewritten: declarations of the top level, `await` and `import` wherever they stand. */
function survey(tree) {
  const found = { isAsync: false, awaits: [], loops: [], loads: [], metas: [], vars: [] };
  walk.fullAncestor(tree, (node, _, ancestors) => {
    const isTop = !ancestors.some((around) => around !== node && NEW_SCOPE.test(around.type));
    switch (node.type) {
      case 'AwaitExpression':
        found.awaits.push(node);
        found.isAsync ||= isTop;
        break;
      case 'ForOfStatement':
        if (!node.await) break;
        found.loops.push(node);
        found.isAsync ||= isTop;
        break;
      case 'ImportDeclaration':
        found.isAsync = true;
        break;
      case 'ImportExpression':
        found.loads.push(node);
        break;
      case 'MetaProperty':
        if (node.meta.name === 'import') found.metas.push(node);
        break;
      case 'VariableDeclaration':
        if (isTop && node.kind === 'var') found.vars.push([node, ancestors.at(-2)]);
        break;
    }
  });
  return found;
}

function namesOf(pattern) {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) => namesOf(property.value ?? property.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf);
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    default:
      return [];
  }
}

module.exports = { HELPER, asWritten, prepare };
