import { z } from "zod";
import { derivedId } from "../platform/ids.js";
import { type Owner, parseOwner } from "./owner.js";
import type { ReadOnly } from "./schema.js";
import type { JournalRecord, MessageRecord, RecordOf } from "./session.js";

/** What happened to a user's sessions and memories, as those are told who keep something in step with it. */

export const EVENT_TYPES = [
  "turn.completed",
  "turn.failed",
  "memory.added",
  "memory.confirmed",
  "memory.superseded",
  "memory.to_confirm",
  "memory.forgotten",
  "write_back.failed",
  "session.created",
  "session.archived",
  "session.deleted",
  "session.purged",
  "owner.erased",
  "owner.merged",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Ids and what describes them. Never a text of anybody's. */
export const eventDataSchema = z
  .object({
    session_id: z.string().optional(),
    turn: z.number().int().optional(),
    message_id: z.string().optional().meta({ description: "Of a turn: its answer. Of a memory: the user's message behind it." }),
    /** Why a turn or its write-back failed. */
    error_code: z.string().optional(),
    memory_id: z.string().optional(),
    strength: z.enum(["hard", "soft"]).optional(),
    /** The memory that holds instead; null for one that has ended. */
    superseded_by: z.string().nullable().optional(),
    /** Of an erasure. */
    receipt_id: z.string().optional(),
    merge_id: z.string().optional(),
    from: z.string().optional().meta({ description: "Of a merge: the user that became this one." }),
  })
  .meta({ id: "EventData" });
export type EventData = ReadOnly<z.output<typeof eventDataSchema>>;

/** Data that holds these for sure. */
export type EventDataWith<Key extends keyof EventData> = EventData & { readonly [Name in Key]-?: Exclude<EventData[Name], undefined> };

/** What the data of each type holds for sure; the rest of it where there is any. */
export interface EventDataOf {
  readonly "turn.completed": EventDataWith<"session_id" | "turn" | "message_id">;
  readonly "turn.failed": EventDataWith<"session_id" | "turn" | "message_id" | "error_code">;
  readonly "memory.added": EventDataWith<"memory_id" | "strength">;
  readonly "memory.confirmed": EventDataWith<"memory_id" | "strength">;
  readonly "memory.superseded": EventDataWith<"memory_id" | "strength" | "superseded_by">;
  readonly "memory.to_confirm": EventDataWith<"memory_id" | "strength">;
  readonly "memory.forgotten": EventDataWith<"memory_id">;
  readonly "write_back.failed": EventDataWith<"session_id" | "turn">;
  readonly "session.created": EventDataWith<"session_id">;
  readonly "session.archived": EventDataWith<"session_id">;
  readonly "session.deleted": EventDataWith<"session_id">;
  readonly "session.purged": EventDataWith<"session_id">;
  readonly "owner.erased": EventDataWith<"receipt_id">;
  readonly "owner.merged": EventDataWith<"merge_id" | "from">;
}

export interface OwnerEvent {
  /** Made of what it tells of: told again, it has the same. */
  readonly id: string;
  readonly type: EventType;
  /** When it happened, ISO 8601 UTC. */
  readonly timestamp: string;
  readonly data: EventData;
}

/** `of`: what tells this one from others of its type, of the same owner. */
export function eventOf<Type extends EventType>(
  owner: Owner,
  type: Type,
  of: readonly (string | number)[],
  timestamp: string,
  data: EventDataOf[Type],
): OwnerEvent {
  return { id: derivedId("event", owner, type, ...of), type, timestamp, data };
}

/** A session is gone for good. */
export function purgedEvent(owner: Owner, sessionId: string, at: Date): OwnerEvent {
  return eventOf(owner, "session.purged", [sessionId], at.toISOString(), { session_id: sessionId });
}

/** All of the owner's is gone; the event itself is what is left of theirs. */
export function erasedEvent(owner: Owner, receiptId: string, at: string): OwnerEvent {
  return eventOf(owner, "owner.erased", [receiptId], at, { receipt_id: receiptId });
}

/** What was another user's is the owner's now. */
export function mergedEvent(owner: Owner, merge: { readonly id: string; readonly from: Owner; readonly at: Date }): OwnerEvent {
  const from = parseOwner(merge.from).user;
  return eventOf(owner, "owner.merged", [merge.id], merge.at.toISOString(), { merge_id: merge.id, from });
}

/** What a session's journal tells of to the outside. What was imported or copied (fork, merge) happened elsewhere and is not told. Pure. */
export function sessionEvents(owner: Owner, sessionId: string, records: readonly JournalRecord[]): OwnerEvent[] {
  return records.flatMap((record) => eventOfRecord(owner, sessionId, record) ?? []);
}

function eventOfRecord(owner: Owner, sessionId: string, record: JournalRecord): OwnerEvent | null {
  switch (record.type) {
    case "session":
      return eventOf(owner, "session.created", [sessionId], record.at, { session_id: sessionId });
    case "session_patch":
      return statusEvent(owner, sessionId, record);
    case "message":
      return turnEvent(owner, sessionId, record);
    case "write_back_done": {
      const { status, error_code } = record.body;
      const data = { session_id: sessionId, turn: record.turn, ...(error_code !== undefined && { error_code }) };
      return status === "failed" ? eventOf(owner, "write_back.failed", [record.id], record.at, data) : null;
    }
    default:
      return null;
  }
}

function statusEvent(owner: Owner, sessionId: string, { id, at, body }: RecordOf<"session_patch">): OwnerEvent | null {
  if (body.status !== "archived" && body.status !== "deleted") return null;
  return eventOf(owner, `session.${body.status}`, [id], at, { session_id: sessionId });
}

/** An answer tells how its turn ended; one that waits for its caller's tools has not. */
function turnEvent(owner: Owner, sessionId: string, { id, at, turn, body }: MessageRecord): OwnerEvent | null {
  const { role, outcome, interim, imported, merged, origin_id, suspended, error_code } = body;
  if (role !== "assistant" || interim || imported || merged || origin_id !== undefined || suspended !== undefined) return null;
  const data = { session_id: sessionId, turn, message_id: id };
  if (outcome === undefined || outcome === "completed") return eventOf(owner, "turn.completed", [id], at, data);
  return eventOf(owner, "turn.failed", [id], at, { ...data, error_code: error_code ?? "CLIENT_CLOSED_REQUEST" });
}
