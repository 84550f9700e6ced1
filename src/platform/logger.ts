/** What the parts log with. Fields hold ids, codes and counts; never message or memory text, never a key. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

function nothing(): void {}

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
