import { type AppError, ERRORS, type ErrorCode, isAppError } from "../platform/errors.js";

/** What `maitred` ends with, as {@link EXIT_HELP} says. They do not change within a major version. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  inUse: 4,
  unavailable: 5,
  attention: 6,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `Exit codes:
  0  done
  1  something unexpected; nothing kept of the user whom an export or an erasure is of
  2  wrong options, configuration or input
  3  no such session, memory or file
  4  another process owns the storage directory; the output says how to go on
  5  a store, model or server is out of reach; try again later
  6  done, but something needs attention (see the output)
  130  interrupted`;

const BY_CODE: Readonly<Record<string, ExitCode>> = {
  STORAGE_IN_USE: EXIT.inUse,
  INVALID_CONFIG: EXIT.usage,
  UNAUTHENTICATED: EXIT.usage,
  FORBIDDEN_ORIGIN: EXIT.usage,
  REINDEX_REQUIRED: EXIT.attention,
  STORAGE_DAMAGED: EXIT.attention,
  QDRANT_TOO_OLD: EXIT.attention,
  ABORTED: EXIT.interrupted,
  CLIENT_CLOSED_REQUEST: EXIT.interrupted,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (!isAppError(error)) return (error as { name?: unknown } | null)?.name === "AbortError" ? EXIT.interrupted : EXIT.failure;
  const known = BY_CODE[error.code];
  if (known !== undefined) return known;
  if (error.status === 404) return EXIT.notFound;
  if (error.status >= 502 || error.status === 429) return EXIT.unavailable;
  return error.status >= 400 && error.status < 500 ? EXIT.usage : EXIT.failure;
}

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
