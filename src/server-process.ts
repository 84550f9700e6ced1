import { startupBlock } from "./cli/startup-block.js";
import { compose } from "./compose/compose.js";
import { type Config, parseConfig } from "./compose/config.js";
import { warnOfMisspelt } from "./compose/misspelt-variables.js";
import { openMetrics, openTraces } from "./compose/telemetry.js";
import { createHttpApp } from "./http/app.js";
import { requireLoopback } from "./http/auth-local.js";
import { listen, type RunningServer } from "./http/server.js";
import { systemClock } from "./platform/clock.js";
import { compileWasmOnce, growHeapBy } from "./platform/engine-flags.js";
import { AppError } from "./platform/errors.js";
import { errnoOf } from "./platform/file-system.js";
import { createLogger } from "./platform/pino-logger.js";
import { announceAddress } from "./platform/server-address.js";

/** How long a stop waits for requests in flight, then for write-backs. What is left is done after the next start. */
const GRACE_MS = 20_000;
const DRAIN_MS = 5_000;

/**
 * The server of this process, by variables as text: composes, listens, says where it is, and drains on SIGTERM or SIGINT; a second
 * signal ends the process at once. Resolves when it has stopped, with the process's exit code: what libraries keep open may keep it alive.
 * @throws PORT_UNAVAILABLE, and what else keeps it from starting
 */
export async function runServer(environment: Readonly<Record<string, string | undefined>>): Promise<0 | 1> {
  const config = parseConfig(environment);
  compileWasmOnce();
  growHeapBy(config.HEAP_GROWTH_PERCENT);
  requireLoopback(config.AUTH_MODE, config.HOST);
  const logger = createLogger({ level: config.LOG_LEVEL, content: config.LOG_CONTENT });
  warnOfMisspelt(environment, logger);
  const traces = await openTraces(config, logger);
  const metrics = await openMetrics({ process: true });
  const application = await compose(config, { logger, metrics });
  let listening: RunningServer | null = null;
  try {
    const { limiter, operator } = application.parts;
    const app = await createHttpApp({ application, config, logger, clock: systemClock, metrics, limiter, operator });
    const server = await listen(app, { host: config.HOST, port: config.PORT }).catch((error) => Promise.reject(asPortError(error, config)));
    listening = server;
    if (config.SHORT_TERM_BACKEND === "file") await announceAddress(application.info.storageDir, server.address.url);
    console.log(startupBlock(application.info, server.address.url));
    setImmediate(() => application.warm());
  } catch (error) {
    // Whoever asks already is broken off: the port has to be free for the next start, and what is open keeps the process alive.
    await listening?.close({ graceMs: 0 });
    await application.close();
    throw error;
  }
  const signal = await stopAsked();
  logger.info({ signal }, "stopping: turns in flight are finished first");
  // They would never end by themselves; who follows comes back and misses nothing.
  application.events.endFollowers();
  try {
    await listening.close({ graceMs: GRACE_MS });
    await application.close({ drainMs: DRAIN_MS });
    return 0;
  } catch (error) {
    logger.error({ err: error }, "the stop was not clean");
    return 1;
  } finally {
    await traces?.stop();
  }
}

/** What the operating system says of the port, in words; everything else passes through. */
function asPortError(cause: unknown, { HOST: host, PORT: port }: Config): unknown {
  const errno = errnoOf(cause);
  if (errno === "EADDRINUSE") return new AppError("PORT_UNAVAILABLE", { detail: `The port is taken: ${port} on ${host}.`, cause });
  if (errno !== "EACCES") return cause;
  const hint = "Set PORT to one above 1023, or let this process have it.";
  return new AppError("PORT_UNAVAILABLE", { detail: `Port ${port} may not be used by this process.`, hint, cause });
}

function stopAsked(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.once(signal, () => process.exit(1));
      resolve(signal);
    };
    process.once("SIGTERM", stop);
    process.once("SIGINT", stop);
  });
}
