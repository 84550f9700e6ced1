import { isAppError } from "../platform/errors.js";

/** An error as a person reads it: what happened, where in the input, and what to do. Without a stack. */
export function errorLines(error: unknown): string[] {
  if (!isAppError(error)) return [error instanceof Error ? error.message : String(error)];
  const places = error.errors
    .filter(({ detail }) => !error.message.includes(detail))
    .map(({ pointer, detail }) => `  ${pointer}: ${detail}`);
  return [error.message, ...places, error.hint];
}

/** The same for a program. */
export function errorJson(error: unknown): object {
  if (!isAppError(error)) return { error: { code: "INTERNAL", detail: error instanceof Error ? error.message : String(error) } };
  const { code, message, hint, errors } = error;
  return { error: { code, detail: message, hint, ...(errors.length > 0 ? { errors } : {}) } };
}
