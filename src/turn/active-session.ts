import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { ListedSession, SessionStore, TurnStart } from "../ports/session-store.js";
import type { SessionsBehind } from "../ports/session-writer.js";

export interface SessionParts {
  readonly store: Pick<SessionStore, "index">;
  readonly lagging: Pick<SessionsBehind, "requireLevel">;
}

type Known = ListedSession["session"];
/** Of a turn that has its lock: what was read together with it. Null where that is to be read. */
type Start = Pick<TurnStart, "session"> | null;

/** Null where there is none. */
async function sessionIfAny({ store, lagging }: SessionParts, owner: Owner, sessionId: string, start: Start): Promise<Known | null> {
  const session = start === null ? await store.index.listed(owner, sessionId) : start.session;
  if (!session) await lagging.requireLevel(owner, sessionId);
  return session;
}

/** @throws SESSION_NOT_FOUND */
export async function ownSession(parts: SessionParts, owner: Owner, sessionId: string): Promise<Known> {
  const session = await sessionIfAny(parts, owner, sessionId, null);
  if (!session) throw new AppError("SESSION_NOT_FOUND");
  return session;
}

/** Null where there is none. @throws SESSION_NOT_ACTIVE */
export async function activeSessionIfAny(parts: SessionParts, owner: Owner, sessionId: string, start: Start = null): Promise<Known | null> {
  const session = await sessionIfAny(parts, owner, sessionId, start);
  if (session && session.status !== "active")
    throw new AppError("SESSION_NOT_ACTIVE", { detail: `The session ${sessionId} is ${session.status}.` });
  return session;
}

/** @throws SESSION_NOT_FOUND, SESSION_NOT_ACTIVE */
export async function activeSession(parts: SessionParts, owner: Owner, sessionId: string, start: Start = null): Promise<Known> {
  const session = await activeSessionIfAny(parts, owner, sessionId, start);
  if (!session) throw new AppError("SESSION_NOT_FOUND");
  return session;
}
