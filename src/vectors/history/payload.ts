import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Owner } from "../../domain/owner.js";
import { jsonObject } from "../../domain/session.js";
import { derivedId } from "../../platform/ids.js";
import type { HistoryMessage } from "../../ports/history.js";
import type { Payload } from "../../ports/vectors.js";

/** What a point of the history collection holds. `v` counts its layout. */
const payloadSchema = z.object({
  v: z.literal(1),
  user_id: z.string(),
  session_id: z.string(),
  turn: z.number(),
  position: z.number(),
  message_id: z.string(),
  external_id: z.string().optional(),
  role: z.enum(["user", "assistant", "system"]),
  name: z.string().nullable(),
  channel: z.string(),
  content: z.string(),
  created_at: z.string(),
  created_at_ts: z.number(),
  /** The message's own terms. */
  terms: z.string(),
  custom_metadata: jsonObject.optional(),
});

/** A search leaves out some dozens of messages, the same ones turn after turn. */
const pointIds = new LRUCache<string, string>({ max: 20_000 });

/** UUIDv5 of owner and message, so that adding a message again hits the same point. */
export function pointIdOf(owner: Owner, messageId: string): string {
  const name = `${owner} ${messageId}`;
  const known = pointIds.get(name) ?? derivedId("point", owner, messageId);
  pointIds.set(name, known);
  return known;
}

export function toPayload(owner: Owner, message: HistoryMessage, terms: string): Payload {
  const { custom_metadata, external_id, ...rest } = message;
  return {
    v: 1,
    user_id: owner,
    ...rest,
    created_at_ts: secondsOf(message.created_at),
    terms,
    ...(external_id === undefined ? {} : { external_id }),
    ...(custom_metadata === undefined ? {} : { custom_metadata }),
  };
}

/** Null for a point that is not this owner's or not a message: it is left out, whatever the filter said. */
export function fromPayload(owner: Owner, payload: unknown): HistoryMessage | null {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success || parsed.data.user_id !== owner) return null;
  const { session_id, turn, position, message_id, external_id, role, name, channel, content, created_at, custom_metadata } = parsed.data;
  // By name, and without spreads: a search does this for hundreds of candidates.
  const message: { -readonly [Key in keyof HistoryMessage]: HistoryMessage[Key] } = {
    session_id,
    turn,
    position,
    message_id,
    role,
    name,
    channel,
    content,
    created_at,
  };
  if (external_id !== undefined) message.external_id = external_id;
  if (custom_metadata !== undefined) message.custom_metadata = custom_metadata;
  return message;
}

/** Empty for a payload without terms. */
export function termsOfPayload(payload: Payload | null | undefined): string {
  return typeof payload?.terms === "string" ? payload.terms : "";
}

/** Whole seconds since the epoch, rounded down; 0 for what is no date. */
export function secondsOf(iso: string): number {
  const ms = Date.parse(iso);
  return Number.isFinite(ms) ? Math.floor(ms / 1000) : 0;
}
