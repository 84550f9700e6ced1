import { awaitStart } from "../await-start.js";
import { AppError } from "../errors.js";
import type { Logger } from "../logger.js";

/** As {@link awaitStart}, of PostgreSQL. @throws STORAGE_UNAVAILABLE that names DATABASE_URL */
export function awaitPostgres<T>(
  start: () => Promise<T>,
  { url, waitMs, logger }: { readonly url: string; readonly waitMs: number; readonly logger: Logger },
): Promise<T> {
  const hintOf = () => "Check DATABASE_URL (address, user, password, database), and that the server runs.";
  return awaitStart(start, { name: `PostgreSQL at ${addressOf(url)}`, hintOf, waitMs, logger, mayPass, reasonOf });
}

/** Without who logs in, and how. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "the address of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const GONE = ["The tables in PostgreSQL are gone.", "Restore the schema from a backup, then start again."] as const;

/** By PostgreSQL's error code, or by its class (two characters): what happened, and what to do about it. */
const SAID: Readonly<Record<string, readonly [detail: string, hint?: string]>> = {
  "08": ["The connection to PostgreSQL was lost."],
  "28": ["PostgreSQL refuses the user or the password.", "Check user and password in DATABASE_URL."],
  "3D": ["PostgreSQL has no such database.", "Check the database's name in DATABASE_URL, or create it."],
  "3F": GONE,
  "42P01": GONE,
  "42883": GONE,
  "42501": [
    "PostgreSQL does not let this user do it.",
    "Give the user of DATABASE_URL all rights on the schema, or CREATE on the database.",
  ],
  "53": ["PostgreSQL has run out of something."],
  "53100": ["PostgreSQL's disk is full.", "Free space on it; with the same Idempotency-Key nothing is done twice."],
  "53300": ["PostgreSQL has no connection left.", "Raise its max_connections, or use fewer processes."],
  "25006": ["PostgreSQL takes no writes: it is read-only.", "Point DATABASE_URL at the primary, or let it take writes again."],
  "57014": ["PostgreSQL took too long."],
  "57": ["PostgreSQL stops or starts just now."],
};

/** A start waits for what may pass: no answer, no connection left, a server that starts, stops or fails over. Other answers stay. */
const PASSING = /^(08|25006|40|53|55|57|58)/;

/** What Node.js and the driver say of a connection that can't be made as DATABASE_URL has it. */
const WRONG_ADDRESS = /^ERR_(INVALID_URL|TLS|SSL)|CERT|does not support SSL|^SASL|^ERR_SOCKET_BAD_PORT/;

/** Whatever PostgreSQL, the network or the driver says instead of an answer: the outcome of what was asked is not known. */
export function storageError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = sqlState(cause);
  // What it tells of rows and arguments is people's words, and no log's.
  if (isAnswer(cause)) Object.assign(cause, { detail: undefined, where: undefined });
  const [detail, hint] = (code === undefined ? undefined : (SAID[code] ?? SAID[code.slice(0, 2)])) ?? [];
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: code === undefined ? "PostgreSQL is out of reach." : `${detail ?? "PostgreSQL refused."} (${code})`,
    ...(hint !== undefined && { hint }),
    cause,
    retryAfterSeconds: 1,
  });
}

export function otherInstallation(): AppError {
  return new AppError("STORAGE_UNAVAILABLE", {
    detail: "The tables in PostgreSQL are another installation's than at the start.",
    hint: "Point DATABASE_URL at the server that it was, or start again to go on with this one.",
    retryAfterSeconds: 1,
  });
}

/** PostgreSQL took the statement back for another one's sake: nothing of it happened. */
export function isTakenBack(error: unknown): boolean {
  return /^40(001|P01)$/.test(sqlState(error) ?? "");
}

/** Whether a connection or a start that failed may go well a little later. */
export function mayPass(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  const code = sqlState(cause);
  if (code !== undefined) return PASSING.test(code);
  if (!(cause instanceof Error)) return false;
  return !WRONG_ADDRESS.test("code" in cause && typeof cause.code === "string" ? cause.code : cause.message);
}

/** Of an error without an answer: what the network said. */
export function reasonOf(error: AppError): string {
  return error.cause instanceof Error && sqlState(error.cause) === undefined && error.cause.message !== ""
    ? error.cause.message
    : error.message;
}

function sqlState(error: unknown): string | undefined {
  return isAnswer(error) ? error.code : undefined;
}

/** The driver's `DatabaseError`: what the server answered, unlike what Node.js says of a connection. */
function isAnswer(error: unknown): error is Error & { readonly code: string | undefined } {
  return error instanceof Error && "severity" in error && "code" in error;
}
