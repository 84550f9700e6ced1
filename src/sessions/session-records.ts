import { isDeepStrictEqual } from "node:util";
import { daysFrom, nextState } from "../domain/lifecycle.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, JsonObject, JsonValue, NewRecord, Session, SessionStatus } from "../domain/session.js";
import { newId } from "../platform/ids.js";
import { present } from "../platform/present.js";
import type { NewSession, SessionPatch } from "../ports/application.js";

export type PatchBody = Extract<NewRecord, { type: "session_patch" }>["body"];

export function patchRecord(now: Date, body: PatchBody): NewRecord {
  return { type: "session_patch", id: newId(), turn: 0, at: now.toISOString(), body };
}

/** The first records of a session, with what its creator says of it. */
export function newSessionRecords(
  owner: Owner,
  session: NewSession,
  { externalId, agentType, now }: { readonly externalId: string | null; readonly agentType: string; readonly now: Date },
): NewRecord[] {
  const { topic, tags } = session;
  const body = {
    owner,
    external_id: externalId,
    title: session.title ?? null,
    metadata: session.metadata ?? {},
    agent_type: session.agentType ?? agentType,
    expires_at: session.expiresInDays === undefined ? null : daysFrom(now, session.expiresInDays),
  };
  const described = { ...(topic !== undefined && { topic }), ...(tags !== undefined && { tags: unique(tags) }) };
  return [
    { type: "session", id: newId(), turn: 0, at: now.toISOString(), body },
    ...(Object.keys(described).length === 0 ? [] : [patchRecord(now, { ...described, by: "user" })]),
  ];
}

/** What a patch changes; null where that is nothing. @throws INVALID_TRANSITION */
export function patchBody(session: Session, patch: SessionPatch, now: Date): PatchBody | null {
  const { title, topic, tags, agentType, metadata, expiresInDays } = patch;
  const event = patch.status === "archived" ? "archive" : "activate";
  const status = patch.status === undefined ? session.status : nextState(session.status, event);
  const changes = {
    ...present({ title, topic, agent_type: agentType }),
    ...(tags !== undefined && { tags: unique(tags) }),
    ...(metadata !== undefined && { metadata: mergePatch(session.metadata, metadata) }),
    ...(expiresInDays !== undefined && { expires_at: expiresInDays === null ? null : daysFrom(now, expiresInDays) }),
    ...(status !== session.status && { status: status as SessionStatus }),
  };
  return Object.keys(changes).length === 0 ? null : { ...changes, by: "user" };
}

/** What is left of a journal that is emptied: the session, and what was set by the user or by retention. */
export function keepOwnWords(record: JournalRecord): JournalRecord | null {
  if (record.type === "session") return record;
  return record.type === "session_patch" && record.body.by !== "derived" ? record : null;
}

function unique(tags: readonly string[]): string[] {
  return [...new Set(tags)];
}

/**
 * JSON Merge Patch (RFC 7396): null takes a key out, objects are merged, all else replaces. Keys such as `__proto__` are plain data.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    const before = merged.get(key);
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value);
  }
  return Object.fromEntries(merged);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Settings, which hold no words and go on holding. */
const SETTINGS: readonly string[] = ["incognito", "time_zone"];

/** Metadata without what was `inherited` from another user, as it was; settings stay. Pure. */
export function ownMetadata(metadata: JsonObject, inherited: JsonObject): JsonObject {
  const settings = Object.entries(metadata).filter(([key]) => SETTINGS.includes(key));
  return { ...withoutEntries(metadata, inherited), ...Object.fromEntries(settings) };
}

/** Without those that `others` has with the same value. Pure. */
export function withoutEntries(metadata: JsonObject, others: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key, value]) => !isDeepStrictEqual(value, others[key])));
}
