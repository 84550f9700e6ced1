import { startupBlock } from "./cli/startup-block.js";
import { compose } from "./compose/compose.js";
import { type Config, parseConfig } from "./compose/config.js";
import { warnOfMisspelt } from "./compose/environment.js";
import { openMetrics, openTraces } from "./compose/telemetry.js";
import { HotReload, type Product } from "./hot-reload.js";
import { createHttpApp } from "./http/app.js";
import { requireLoopback } from "./http/auth-local.js";
import { listen, type RunningServer } from "./http/server.js";
import { systemClock } from "./platform/clock.js";
import { announceAddress } from "./platform/directory-lock.js";
import { compileWasmOnce, growHeapBy } from "./platform/engine-flags.js";
import { AppError } from "./platform/errors.js";
import { errnoOf } from "./platform/file-system.js";
import { createLogger } from "./platform/pino-logger.js";
import type { Domain } from "./ports/agent.js";

/** How long a stop waits for requests in flight, then for write-backs. What is left is done after the next start. */
const GRACE_MS = 20_000;
const DRAIN_MS = 5_000;

/**
 * The server of this process, by variables as text: composes, listens, says where it is, and drains on SIGTERM or SIGINT; a second
 * signal ends the process at once. Resolves when it has stopped, with the process's exit code: what libraries keep open may keep it alive.
 * `watch`: takes the domain anew when its file changes. Default false.
 * @throws PORT_UNAVAILABLE, INVALID_CONFIG for `watch` without DOMAIN_FILE, and what else keeps it from starting
 */
export async function runServer(
  environment: Readonly<Record<string, string | undefined>>,
  { watch = false }: { readonly watch?: boolean } = {},
): Promise<0 | 1> {
  const config = parseConfig(environment);
  const { DOMAIN_FILE: file } = config;
  if (watch && file === undefined)
    throw new AppError("INVALID_CONFIG", { detail: "There is no domain to watch.", hint: "Name its file with --domain or DOMAIN_FILE." });
  compileWasmOnce();
  growHeapBy(config.HEAP_GROWTH_PERCENT);
  requireLoopback(config.AUTH_MODE, config.HOST);
  const logger = createLogger({ level: config.LOG_LEVEL, content: config.LOG_CONTENT });
  warnOfMisspelt(environment, logger);
  const traces = await openTraces(config, logger);
  const metrics = await openMetrics({ process: true });
  const open = async (domain?: Domain): Promise<Product> => {
    const application = await compose(config, { logger, metrics, ...(domain && { domain }) });
    const { limiter, operator } = application.parts;
    try {
      return { application, app: await createHttpApp({ application, config, logger, clock: systemClock, metrics, limiter, operator }) };
    } catch (error) {
      await application.close();
      throw error;
    }
  };
  const first = await open();
  const times = { graceMs: GRACE_MS, drainMs: DRAIN_MS };
  const reload = watch && file !== undefined ? new HotReload({ file, first, open, say: console.log, ...times }) : null;
  const server = await begun(first, reload, config);
  reload?.watch(server);
  const signal = await Promise.race([stopAsked(), ...(reload ? [reload.failed] : [])]);
  logger.info({ signal }, "stopping: turns in flight are finished first");
  const { application } = (await reload?.stop()) ?? first;
  // They would never end by themselves; who follows comes back and misses nothing.
  application.events.endFollowers();
  try {
    await server.close({ graceMs: GRACE_MS });
    await application.close({ drainMs: DRAIN_MS });
    return 0;
  } catch (error) {
    logger.error({ err: error }, "the stop was not clean");
    return 1;
  } finally {
    await traces?.stop();
  }
}

/** Listens, and says where. */
async function begun({ application, app }: Product, reload: HotReload | null, config: Config): Promise<RunningServer> {
  const { HOST: host, PORT: port, DOMAIN_FILE: file } = config;
  let listening: RunningServer | null = null;
  try {
    const server = await listen(reload ?? app, { host, port }).catch((error) => Promise.reject(asPortError(error, config)));
    listening = server;
    const { url } = server.address;
    if (config.SHORT_TERM_BACKEND === "file") await announceAddress(application.info.storageDir, url);
    const domain = file === undefined ? undefined : { name: application.parts.domain.name, file };
    console.log(startupBlock(application.info, url, { domain, studio: config.OPERATOR_TOKEN !== undefined }));
    setImmediate(() => application.warm());
    return server;
  } catch (error) {
    // Whoever asks already is broken off: the port has to be free for the next start, and what is open keeps the process alive.
    await listening?.close({ graceMs: 0 });
    await application.close();
    throw error;
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
