import { pino } from "pino";
import { AppError } from "./errors.js";
import { framesOf, type Logger } from "./logger.js";

export interface LoggerOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  /** True lets the texts of foreign errors into the log, which can quote messages and memories. */
  readonly content: boolean;
  /** Where lines go; default standard error, so that standard output stays for people and pipes. */
  readonly destination?: { write(line: string): void };
}

/** JSON lines (pino). Errors are told by code, class and place; their own text only with `content`, for it can hold what a user said. */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: (error: unknown) => describeError(error, options.content) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

const MAX_CAUSES = 4;

function describeError(error: unknown, content: boolean, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    type: error.name,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(typeof status === "number" ? { status } : {}),
    ...(content || error instanceof AppError ? { message: error.message } : {}),
    at: framesOf(error, 6),
    ...(error.cause === undefined || depth === MAX_CAUSES ? {} : { cause: describeError(error.cause, content, depth + 1) }),
  };
}
