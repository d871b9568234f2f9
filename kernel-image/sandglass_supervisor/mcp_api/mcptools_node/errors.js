'use strict';
// What a call can throw. All derive from ToolRunnerError; each message says what to do.

const MESSAGE_CHARS = 20_000;

/** A call failed; the classes below say how. */
class ToolRunnerError extends Error {
  static advice = '';

  constructor(message, server, tool) {
    const { advice } = new.target;
    const left = message.length - MESSAGE_CHARS;
    const text = left > 0 ? `${message.slice(0, MESSAGE_CHARS)} [... ${left} characters left out]` : message;
    super(advice ? `${text}\n${advice}` : text);
    Object.defineProperty(this, 'name', { value: new.target.name, configurable: true, writable: true });
    this.server = server;
    this.tool = tool;
  }
}

class ToolError extends ToolRunnerError {}

class NoSuchServer extends ToolRunnerError {
  static advice = 'servers() of mcptools lists the servers.';
}

class NoSuchTool extends ToolRunnerError {
  static advice = 'describe(server) of mcptools lists its tools, search(words) finds one.';
}

class NotAllowed extends ToolRunnerError {
  static advice = "The server's administrator decides that; describe(server) of mcptools lists the tools that may be called.";
}

class ServerNotRunning extends ToolRunnerError {
  static advice =
    'Repair what its last words name, and register the server again; if sandboxes share it, that is for its administrator to do.';
}

class Unreachable extends ServerNotRunning {
  static advice = 'servers() of mcptools tries the way again. A tool may have done its work all the same.';
}

class ToolTimeout extends ToolRunnerError {
  static advice = 'Pass a longer timeoutS, or ask the tool for less.';
}

class ResultTooLarge extends ToolRunnerError {
  static advice = 'Ask for less: a page, a filter, fewer fields.';
}

class TooManyCalls extends ToolRunnerError {
  static advice = 'Run fewer at once, or continue in another execution.';
}

class ToolCancelled extends ToolRunnerError {}

const KINDS = new Map([
  ['no_server', NoSuchServer],
  ['no_tool', NoSuchTool],
  ['not_allowed', NotAllowed],
  ['not_running', ServerNotRunning],
  ['unreachable', Unreachable],
  ['timeout', ToolTimeout],
  ['too_large', ResultTooLarge],
  ['too_many', TooManyCalls],
  ['cancelled', ToolCancelled],
  ['failed', ToolError],
]);

/** The error for that of an answer. */
function ofKind(error, server, tool) {
  const { kind, message } = error ?? {};
  const text = typeof message === 'string' && message ? message : `the call failed: ${kind}`;
  return new (KINDS.get(kind) ?? ToolRunnerError)(text, server, tool);
}

module.exports = {
  ToolRunnerError,
  ToolError,
  NoSuchServer,
  NoSuchTool,
  NotAllowed,
  ServerNotRunning,
  Unreachable,
  ToolTimeout,
  ResultTooLarge,
  TooManyCalls,
  ToolCancelled,
  ofKind,
};
