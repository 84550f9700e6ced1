import { isAppError } from "../platform/errors.js";

/** What `maitred` ends with. They do not change within a major version. */
export const EXIT = {
  ok: 0,
  /** Something unexpected; of an export or an erasure also: nothing is kept of such a user. */
  failure: 1,
  /** Wrong options, configuration or input. */
  usage: 2,
  /** No such session, memory, message or file. */
  notFound: 3,
  /** Another process owns the storage directory: stop it, or, where the output says so, use --url. */
  inUse: 4,
  /** A store, model or server is out of reach: try again later. */
  unavailable: 5,
  /** Done, but something needs attention: see what was printed. */
  attention: 6,
  /** Interrupted (Ctrl+C). */
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
