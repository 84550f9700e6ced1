import pc from "picocolors";
import { maintenanceOf } from "./cli/maintenance-of.js";
import { runCli } from "./cli/program.js";
import { parseConfig } from "./compose/config.js";
import { readEnvironment } from "./compose/environment.js";
import { compileWasmOnce } from "./platform/engine-flags.js";
import type { Logger } from "./platform/logger.js";
import type { LoggerOptions } from "./platform/pino-logger.js";
import { VERSION } from "./platform/version.js";

/**
 * The command line: `maitred --help`. It logs errors alone, to stderr; stdout is the command's own. What stands behind the storage
 * directory is loaded only by the commands that open it.
 */

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());

// Whoever read the output (`| head`) has had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

async function loggerOf(level: LoggerOptions["level"], content = false): Promise<Logger> {
  return (await import("./platform/pino-logger.js")).createLogger({ level, content });
}

compileWasmOnce();
process.exitCode = await runCli(process.argv.slice(2), {
  version: VERSION,
  streams: process,
  colours: pc.isColorSupported && process.stdout.isTTY === true,
  signal: interrupted.signal,
  readConfig: (variables) => parseConfig({ ...readEnvironment(process.cwd()), ...variables }),
  open: async (config, options) => {
    const { compose } = await import("./compose/compose.js");
    const level = config.LOG_LEVEL === "silent" || config.LOG_LEVEL === "debug" ? config.LOG_LEVEL : "error";
    const application = await compose(config, { logger: await loggerOf(level, config.LOG_CONTENT), ...options });
    return { application, maintenance: maintenanceOf(application.parts) };
  },
  migrate: (config) => async (backends, options) => {
    const { migrateState } = await import("./compose/migration.js");
    return migrateState(config, backends, { ...options, logger: await loggerOf("error", config.LOG_CONTENT) });
  },
  encryption: async (config) => {
    const { encryptionOf } = await import("./compose/encryption-commands.js");
    return encryptionOf(config, { logger: await loggerOf("error", config.LOG_CONTENT) });
  },
  backups: async (config) => {
    const { backupsOf } = await import("./compose/backups.js");
    return backupsOf(config, { logger: await loggerOf("error", config.LOG_CONTENT) });
  },
  openModel: async (config) => {
    const { openConfiguredModel } = await import("./compose/models.js");
    // What the provider says is what the person who asks is looking for.
    return openConfiguredModel(config, await loggerOf(config.LOG_LEVEL === "silent" ? "silent" : "warn"));
  },
  openTrial: async (config, options) => {
    const { openTrial } = await import("./compose/trial.js");
    return openTrial(config, await loggerOf(config.LOG_LEVEL === "silent" ? "silent" : "error"), options);
  },
  serve: async (variables, options) => {
    const { runServer } = await import("./server-process.js");
    // What libraries keep open must not keep a server alive that has stopped.
    process.exit(await runServer({ ...readEnvironment(process.cwd()), ...variables }, options));
  },
  serverOf: async ({ MEMORY_STORAGE_DIR }) => (await import("./platform/directory-lock.js")).announcedAddress(MEMORY_STORAGE_DIR),
  openBrowser: async (url) => (await import("./cli/studio.js")).openBrowser(url),
  nodeVersion: process.versions.node,
  sqliteVersion: async () => {
    const { openSqlite } = await import("./platform/sqlite.js");
    const db = openSqlite(":memory:");
    try {
      return String(db.prepare("SELECT sqlite_version()").pluck().get());
    } finally {
      db.close();
    }
  },
  fetch,
  operatorToken: () => readEnvironment(process.cwd()).MAITRED_OPERATOR_TOKEN?.trim(),
});
