import { compose } from "./compose.js";
import { parseConfig, readEnvironment } from "./config.js";
import { AppError, isAppError } from "./errors.js";
import { createHttpApp } from "./http/app.js";
import { requireLoopback } from "./http/auth-local.js";
import { listen } from "./http/server.js";
import { systemClock } from "./platform/clock.js";
import { createLogger } from "./platform/pino-logger.js";
import { announceAddress } from "./platform/server-address.js";
import { startupBlock } from "./startup-block.js";

/** The server process: config → compose → listen → drain on SIGTERM or SIGINT. A second signal ends it at once. */

/** How long a stop waits for requests in flight, then for write-backs. What is left is done after the next start. */
const GRACE_MS = 20_000;
const DRAIN_MS = 5_000;

async function start(): Promise<void> {
  const config = parseConfig(readEnvironment(process.cwd()));
  requireLoopback(config.AUTH_MODE, config.HOST);
  const logger = createLogger({ level: config.LOG_LEVEL, content: config.LOG_CONTENT });
  const application = await compose(config, { logger });
  try {
    const app = await createHttpApp({ application, config, logger, clock: systemClock });
    const server = await listen(app, { host: config.HOST, port: config.PORT });
    if (config.SHORT_TERM_BACKEND === "file") await announceAddress(application.info.storageDir, server.address.url);
    console.log(startupBlock(application.info, server.address.url));

    const stop = (signal: string) => {
      process.once(signal, () => process.exit(1));
      logger.info({ signal }, "stopping: turns in flight are finished first");
      server
        .close({ graceMs: GRACE_MS })
        .then(() => application.close({ drainMs: DRAIN_MS }))
        .then(
          () => process.exit(0),
          (error: unknown) => {
            logger.error({ err: error }, "the stop was not clean");
            process.exit(1);
          },
        );
    };
    process.once("SIGTERM", stop);
    process.once("SIGINT", stop);
  } catch (error) {
    await application.close();
    throw error;
  }
}

function explain(error: unknown): string {
  if (isAppError(error)) return `${error.message}\n${error.hint}`;
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
    return "The port is taken. Set PORT to another one, or stop what listens there.";
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

start().catch((error: unknown) => {
  console.error(`Maitred can't start.\n${explain(error)}`);
  process.exitCode = error instanceof AppError && error.code === "INVALID_CONFIG" ? 78 : 1;
});
