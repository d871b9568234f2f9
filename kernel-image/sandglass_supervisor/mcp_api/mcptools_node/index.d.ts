/**
 * Call the tools of MCP servers from code.
 *
 *     import { call, servers, search, describe } from 'mcptools'
 *     await servers()                                          // servers, their states and tools
 *     await search('open issues')                              // tools by words
 *     await describe('github.list_issues')                     // what one takes and returns
 *     await call('github', 'list_issues', { repo: 'a/b' })
 *
 * Each server has a module of its own: import { list_issues } from 'mcptools/github'
 * Any number of calls may run at once. Names and descriptions of tools come from their servers.
 */

/** How long a call may take, and a signal that cancels it at the server. */
export interface CallOptions {
  timeoutS?: number;
  signal?: AbortSignal;
}

export interface ToolLine {
  name: string;
  description: string;
}

export interface Server {
  name: string;
  state: string;
  /** True for one that sandboxes share. Of one that sleeps no tools may be known. */
  shared?: boolean;
  tools: ToolLine[];
}

export interface Description {
  server: string;
  name?: string;
  description?: string;
  input_schema?: unknown;
  output_schema?: unknown;
  tools?: { name: string; description: string; input_schema: unknown; output_schema?: unknown }[];
}

/**
 * Calls a tool and returns what it answers: its structured content if there is any, else its text, parsed if it is JSON.
 * Several parts are a list; pictures are Media. Throws ToolError if the tool says that it failed.
 */
export declare function call(server: string, tool: string, args?: { [key: string]: unknown }, options?: CallOptions): Promise<unknown>;

/** The servers with their states and tools: those of the sandbox, and those that sandboxes share. */
export declare function servers(): Promise<Server[]>;

/** A tool, 'server.tool', with its schemas; or 'server' with its tools. */
export declare function describe(what: string): Promise<Description>;

/** The tools whose names and descriptions have most of the words, best first. */
export declare function search(words: string, limit?: number): Promise<{ server: string; tool: string; description: string }[]>;

/** A picture, sound or file of a result: its bytes, with the media type. display(media.type, media) shows a picture. */
export declare class Media extends Uint8Array {
  constructor(data: Uint8Array, type: string);
  readonly type: string;
}

/** A call failed; the classes below say how. Each message says what to do. */
export declare class ToolRunnerError extends Error {
  constructor(message: string, server?: string, tool?: string);
  readonly server?: string;
  readonly tool?: string;
}

/** The tool itself answered that it failed. The message is the tool's. */
export declare class ToolError extends ToolRunnerError {}

/** No server of that name is registered in the sandbox, or shared with it. */
export declare class NoSuchServer extends ToolRunnerError {}

/** The server has no such tool. */
export declare class NoSuchTool extends ToolRunnerError {}

/** The sandbox may not use this tool of a shared server. */
export declare class NotAllowed extends ToolRunnerError {}

/** The server ended, or does not start. */
export declare class ServerNotRunning extends ToolRunnerError {}

/** There is no way from this process to the server, or it broke while the call ran. */
export declare class Unreachable extends ServerNotRunning {}

/** The tool did not answer in time. It may have done its work all the same. */
export declare class ToolTimeout extends ToolRunnerError {}

/** The result is larger than 4 MiB. */
export declare class ResultTooLarge extends ToolRunnerError {}

/** More calls than one execution or one server may have. */
export declare class TooManyCalls extends ToolRunnerError {}

/** The call was cancelled, because its execution ended or its server was removed. */
export declare class ToolCancelled extends ToolRunnerError {}
