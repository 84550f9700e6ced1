import type { MemoryRecord } from "../domain/memory-record.js";

/** What a memory that no message stated is made of; the rest is what such a memory always has. */
export type MadeByCode = Pick<MemoryRecord, "id" | "text" | "category" | "aspect" | "type" | "explicit"> &
  Partial<Pick<MemoryRecord, "status" | "reason" | "entities" | "tags" | "confidence">>;

/** `at`: when it was so, ISO 8601 UTC. */
export function madeByCode(made: MadeByCode, at: string, now: Date): MemoryRecord {
  const created = now.toISOString();
  return {
    condition: "",
    about: "",
    need: null,
    strength: "soft",
    subject: "self",
    scope: "standing",
    status: "active",
    stated_at: at,
    valid_from: at,
    valid_until: null,
    superseded_by: null,
    confidence: 1,
    seen_count: 1,
    last_confirmed_at: at,
    entities: [],
    tags: [],
    channel: "",
    reason: null,
    pending_change: null,
    source: null,
    created_at: created,
    updated_at: created,
    asked: 0,
    last_recalled_at: null,
    confirmed_by: [],
    events: [{ at: created, event: "added" }],
    ...made,
  };
}
