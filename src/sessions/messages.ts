import { z } from "zod";
import { AppError } from "../errors.js";
import type { Owner } from "../owner.js";
import { isBlankFailure, type JsonObject, type Message, type MessageRecord } from "../session.js";
import type { Page, ShortTermMemory } from "../session-store.js";

export interface MessageQuery {
  /** 1 to 200. Default 50. */
  readonly limit?: number;
  readonly cursor?: string;
  /** Oldest first is `asc`, the default. */
  readonly order?: "asc" | "desc";
}

/**
 * A page of what was said. A cursor names the last message that was given, so that a page stays what it was while the session grows.
 * Oldest first costs what the page holds; newest first reads the journal once and keeps one page of it.
 * @throws SESSION_NOT_FOUND, INVALID_CURSOR, INVALID_REQUEST
 */
export async function readMessages(
  journal: ShortTermMemory,
  owner: Owner,
  sessionId: string,
  query: MessageQuery,
  signal?: AbortSignal,
): Promise<Page<Message>> {
  const { limit = 50, order = "asc" } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/limit", detail: "1 to 200" }] });
  const after = query.cursor === undefined ? null : parseCursor(query.cursor, sessionId, order);
  const cancel = signal ? { signal } : {};
  const found: MessageRecord[] = [];
  const fromSeq = order === "asc" && after !== null ? after + 1 : 1;
  for await (const record of journal.read(owner, sessionId, { fromSeq, ...cancel })) {
    if (order === "desc" && after !== null && record.seq >= after) break;
    if (record.type !== "message" || isBlankFailure(record)) continue;
    found.push(record);
    if (found.length <= limit) continue;
    if (order === "asc") break;
    if (found.length > limit + 1) found.shift();
  }
  const ordered = order === "asc" ? found : found.toReversed();
  const page = ordered.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map(toMessage),
    nextCursor: ordered.length > limit && last ? encodeCursor(sessionId, order, last.seq) : null,
  };
}

/** A message by its id, whether or not a rewind took it back; null where there is none. Reads the journal up to it, once. */
export async function findMessage(journal: ShortTermMemory, owner: Owner, sessionId: string, messageId: string): Promise<Message | null> {
  for await (const record of journal.read(owner, sessionId, { includeRewound: true })) {
    if (record.type === "message" && record.id === messageId) return toMessage(record);
  }
  return null;
}

/** A message as clients read it. Its metadata also tells a turn that did not end well, and who spoke where a name is known. */
function toMessage(record: MessageRecord): Message {
  const { role, content, metadata, outcome, error_code, name, imported, external_id } = record.body;
  const notes: Record<string, unknown> = {
    ...metadata,
    outcome: outcome === "completed" ? undefined : outcome,
    error_code,
    name: name ?? undefined,
    imported,
    external_id,
  };
  const present = Object.entries(notes).filter(([, value]) => value !== undefined);
  return { id: record.id, turn: record.turn, role, content, created_at: record.at, metadata: Object.fromEntries(present) as JsonObject };
}

const cursorSchema = z.tuple([z.string(), z.enum(["asc", "desc"]), z.number().int().nonnegative()]);

function encodeCursor(sessionId: string, order: "asc" | "desc", seq: number): string {
  return Buffer.from(JSON.stringify([sessionId, order, seq])).toString("base64url");
}

function parseCursor(cursor: string, sessionId: string, order: "asc" | "desc"): number {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new AppError("INVALID_CURSOR", { cause });
  }
  const parsed = cursorSchema.safeParse(value);
  if (!parsed.success || parsed.data[0] !== sessionId || parsed.data[1] !== order) throw new AppError("INVALID_CURSOR");
  return parsed.data[2];
}
