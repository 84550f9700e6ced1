import { readEnvironment } from "./compose/environment.js";
import { AppError, isAppError } from "./platform/errors.js";
import { runServer } from "./server-process.js";

/** The server, configured by the environment and by the files of the present directory. */

function explain(error: unknown): string {
  if (isAppError(error)) return `${error.message}\n${error.hint}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

try {
  process.exit(await runServer(readEnvironment(process.cwd())));
} catch (error) {
  console.error(`Maitred can't start.\n${explain(error)}`);
  process.exitCode = error instanceof AppError && error.code === "INVALID_CONFIG" ? 78 : 1;
}
