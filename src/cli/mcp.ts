import type { Owner } from "../domain/owner.js";
import { userOf } from "../library/library.js";
import { bridgeStdio, mcpServer, remoteServer, type StdioOptions, serveStdio } from "../mcp/mcp.js";
import { systemClock } from "../platform/clock.js";
import type { AppError } from "../platform/errors.js";
import type { Application } from "../ports/application.js";
import { localTimeZone } from "./backend.js";
import { errorLines } from "./errors.js";
import { headersOf, type RemoteOptions, wellAnswered } from "./remote-backend.js";
import type { Terminal } from "./terminal.js";

/** How long leaving waits for what was said to be remembered: a client kills what it has closed after seconds. */
const DRAIN_MS = 1_000;

/**
 * The MCP server for one local client, over standard input and output, until the client closes its end. Standard output has nothing but
 * the protocol; what goes wrong is told on standard error, without what was said.
 */
export async function mcpCommand(terminal: Terminal, application: Application, owner: Owner, signal: AbortSignal): Promise<void> {
  const timeZone = localTimeZone();
  const user = await userOf(application, { owner, timeZone }, systemClock);
  const failed = (error: AppError) => {
    if (error.status >= 500) terminal.note(errorLines(error).join("\n"));
  };
  try {
    await serveStdio(mcpServer(user, { timeZone, failed }), stdioOf(terminal, signal));
  } finally {
    await application.close({ drainMs: DRAIN_MS });
  }
}

/** The same in front of a server that runs: its tools, its user. */
export async function remoteMcpCommand(terminal: Terminal, options: RemoteOptions, signal: AbortSignal): Promise<void> {
  const headers = { ...headersOf(options), "X-Timezone": localTimeZone() };
  const server = remoteServer({ url: new URL("/mcp", options.url), headers, fetch: wellAnswered(options) });
  await bridgeStdio(server, stdioOf(terminal, signal));
}

function stdioOf(terminal: Terminal, signal: AbortSignal): StdioOptions {
  const { stdin, stdout } = terminal.streams;
  const failed = () => terminal.note("A message that can't be read, or got lost, has no answer.");
  return { stdin: stdin as StdioOptions["stdin"], stdout: stdout as StdioOptions["stdout"], signal, failed };
}
