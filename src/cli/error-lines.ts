import { isAppError } from "../platform/errors.js";

/** An error as a person reads it: what happened, where in the input, and what to do. Without a stack. */
export function errorLines(error: unknown): string[] {
  if (!isAppError(error)) return [plainMessage(error)];
  const places = error.errors
    .filter(({ detail }) => !error.message.includes(detail))
    .map(({ pointer, detail }) => `  ${pointer}: ${detail}`);
  return [error.message, ...places, error.hint];
}

/** "ENOENT: no such file or directory, open 'x'" without its code. */
function plainMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code = "" } = error as NodeJS.ErrnoException;
  return code !== "" && error.message.startsWith(`${code}: `) ? error.message.slice(code.length + 2) : error.message;
}

/** The same for a program. */
export function errorJson(error: unknown): object {
  if (!isAppError(error)) return { error: { code: "INTERNAL", detail: error instanceof Error ? error.message : String(error) } };
  const { code, message, hint, errors } = error;
  return { error: { code, detail: message, hint, ...(errors.length > 0 ? { errors } : {}) } };
}
