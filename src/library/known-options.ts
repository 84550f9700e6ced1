import { AppError, invalidField } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { unknownFields } from "../platform/nearest-name.js";
import { isSessionName, SESSION_NAME_RULE, type SessionRef } from "../ports/session-names.js";

/** A session, by either of two names. */
export interface SessionName {
  /** 1 to 256 characters without control characters: your own name of the conversation, one of the user's for each. */
  readonly thread?: string;
  /** Instead of `thread`: the id that Maitred gave the session. */
  readonly sessionId?: string;
}

type MaybeNamed = { readonly [Name in keyof SessionName]: SessionName[Name] | undefined };

/** The names of a session among a method's options. */
export const OF_A_SESSION = { thread: true, sessionId: true } as const satisfies Record<keyof SessionName, true>;

/** Options as they were given: none are as good as null. @throws INVALID_REQUEST for what is no object */
export function optionsOf<T extends object>(options: T | null | undefined): Partial<T> {
  if (options === null || options === undefined) return {};
  if (typeof options === "object" && !Array.isArray(options)) return options;
  throw new AppError("INVALID_REQUEST", { detail: "Options are an object.", hint: 'For instance { thread: "t1" }.' });
}

/**
 * As {@link optionsOf}, of these names alone. @throws UNKNOWN_FIELD for another, with the nearest name: what is passed over in silence
 * goes to another session or user
 */
export function knownOptions<T extends object>(options: T | null | undefined, known: Readonly<Record<keyof T & string, true>>): Partial<T> {
  const given = optionsOf(options);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  const errors = unknown.map((name) => ({ pointer: `/${name.slice(0, 64)}`, detail: unknownFields([name], Object.keys(known)) }));
  if (errors.length === 0) return given;
  const hint = `There are: ${Object.keys(known).join(", ")}.`;
  throw new AppError("UNKNOWN_FIELD", { detail: errors.map(({ detail }) => detail).join("; "), errors, hint });
}

/**
 * The session that options name; null where they name none.
 * @throws INVALID_REQUEST for both names or for what can be none, INVALID_SESSION_ID
 */
export function sessionNamed({ thread, sessionId }: MaybeNamed): SessionRef | null {
  if (thread !== undefined && sessionId !== undefined)
    throw invalidField(
      "/thread",
      "names a session as `sessionId` does: give one of the two",
      "`thread` is your own name of the conversation, `sessionId` the id that Maitred gave it.",
    );
  if (thread !== undefined) {
    if (isSessionName(thread)) return { externalId: thread };
    throw invalidField("/thread", SESSION_NAME_RULE, 'Name the conversation as your own system does: { thread: "t1" }.');
  }
  if (sessionId === undefined) return null;
  if (isId(sessionId)) return { sessionId };
  const hint = "An id is what Maitred gave as `session_id`. A name of your own goes into `thread`.";
  throw new AppError("INVALID_SESSION_ID", { errors: [{ pointer: "/sessionId", detail: "not an id that Maitred gave" }], hint });
}

/**
 * A session that is named on its own: Maitred's id of it as text, or an object.
 * @throws as {@link sessionNamed}, and INVALID_REQUEST where none is named
 */
export function sessionGiven(given: string | SessionName): SessionRef {
  const named = sessionNamed(typeof given === "string" ? { sessionId: given } : knownOptions<SessionName>(given, OF_A_SESSION));
  if (named === null) throw noSession();
  return named;
}

export function noSession(detail = "No session is named."): AppError {
  return invalidField("/thread", detail, 'Name it as { thread: "t1" }, of your own choosing, or by the id that Maitred gave it.');
}
