import { type AppError, ERRORS, type ErrorCode, isAppError } from "../platform/errors.js";

/** Hints that name the HTTP API's own ways, as a command line says them. */
const HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  INVALID_SESSION_ID: "`maitred sessions` lists your conversations with their ids.",
  INVALID_ID: "`maitred memories` and `maitred sessions` list what there is, with ids.",
  SESSION_NOT_FOUND: "`maitred sessions` lists your conversations.",
  MEMORY_NOT_FOUND: "`maitred memories` lists what is remembered.",
  MESSAGE_NOT_FOUND: "`maitred sessions show <id>` shows a conversation's messages.",
};

function hintOf({ code, hint }: AppError): string {
  return hint === ERRORS[code].hint ? (HINTS[code] ?? hint) : hint;
}

/** An error as a person reads it: what happened, where in the input, and what to do. Without a stack. */
export function errorLines(error: unknown): string[] {
  if (!isAppError(error)) return [plainMessage(error)];
  const places = error.errors
    .filter(({ detail }) => !error.message.includes(detail))
    .map(({ pointer, detail }) => `  ${pointer}: ${detail}`);
  return [error.message, ...places, hintOf(error)];
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
  const { code, message, errors } = error;
  return { error: { code, detail: message, hint: hintOf(error), ...(errors.length > 0 ? { errors } : {}) } };
}

/** "error: unknown command 'eport'" without its mark, on one line. */
export function plainRefusal(message: string): string {
  return message
    .replace(/^error: /u, "")
    .replaceAll("\n", " ")
    .trim();
}
