/** What the parts log with. Fields hold ids, codes and counts; never message or memory text, never a key. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

function nothing(): void {}

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Passes on what is of a level or above it; `silent`: nothing. */
export function fromLevel(logger: Logger, level: (typeof LEVELS)[number] | "silent"): Logger {
  const least = level === "silent" ? LEVELS.length : LEVELS.indexOf(level);
  const passing = (name: (typeof LEVELS)[number]): Logger["debug"] =>
    LEVELS.indexOf(name) < least ? nothing : (fields, message) => logger[name](fields, message);
  return { debug: passing("debug"), info: passing("info"), warn: passing("warn"), error: passing("error") };
}

/** The first places of an error's stack: without its first line, which repeats the message. */
export function framesOf({ stack = "" }: Error, most: number): string[] {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.slice(0, most).map((line) => line.trim());
}
