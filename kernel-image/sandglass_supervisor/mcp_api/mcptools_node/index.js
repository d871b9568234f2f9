'use strict';
// Call the tools of MCP servers from code. index.d.ts says what each of these does.

const errors = require('./errors.js');
const runtime = require('./runtime.js');

// One by one: so does Node find them for `import { call } from 'mcptools'`.
exports.call = runtime.call;
exports.servers = runtime.servers;
exports.describe = runtime.describe;
exports.search = runtime.search;
exports.Media = runtime.Media;
exports.ToolRunnerError = errors.ToolRunnerError;
exports.ToolError = errors.ToolError;
exports.NoSuchServer = errors.NoSuchServer;
exports.NoSuchTool = errors.NoSuchTool;
exports.NotAllowed = errors.NotAllowed;
exports.ServerNotRunning = errors.ServerNotRunning;
exports.Unreachable = errors.Unreachable;
exports.ToolTimeout = errors.ToolTimeout;
exports.ResultTooLarge = errors.ResultTooLarge;
exports.TooManyCalls = errors.TooManyCalls;
exports.ToolCancelled = errors.ToolCancelled;
