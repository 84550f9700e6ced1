import type { Category } from "../domain/categories.js";
import type { MemorySource, Statement, WaitingReason } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { endOfDay } from "./checks/said-dates.js";
import { aspectSpelling, categorySpelling } from "./spelling.js";

/** A statement on its way to become a memory, whoever proposed it. */
interface Claim {
  /** The memory's id to be. */
  readonly id: string;
  /** ISO 8601. */
  readonly statedAt: string;
  /** Null when the user added it by hand. */
  readonly source: MemorySource | null;
  readonly statement: Statement;
  /** Why it is kept, shown, and not used before the guest's word; null where it holds at once. */
  readonly waits: WaitingReason | null;
}

/** A statement for this trip alone, without a date, holds this long after it was said. */
const TRIP_DAYS = 30;
const DAY_MS = 86_400_000;

/** The record that a claim makes. */
export function recordFrom(claim: Claim, now: Date, categories: readonly Category[]): MemoryRecord {
  const { statement } = claim;
  const statedAt = new Date(claim.statedAt).toISOString();
  const at = now.toISOString();
  const category = categorySpelling(statement.category, categories);
  return {
    id: claim.id,
    text: statement.text.trim(),
    category,
    aspect: aspectSpelling(statement.aspect, category, categories),
    condition: statement.condition.trim(),
    about: statement.about.trim(),
    need: statement.need,
    type: statement.type,
    strength: statement.strength,
    subject: statement.subject,
    scope: statement.scope,
    status: claim.waits !== null || !statement.explicit ? "review" : "active",
    stated_at: statedAt,
    valid_from: beginningOf(statement.valid_from, statedAt),
    valid_until: endOf(statement, statedAt),
    superseded_by: null,
    confidence: statement.confidence,
    seen_count: 1,
    last_confirmed_at: statedAt,
    entities: statement.entities,
    tags: statement.tags,
    channel: statement.channel,
    reason: claim.waits ?? (statement.explicit ? null : "inferred"),
    pending_change: null,
    asked: 0,
    source: claim.source,
    created_at: at,
    updated_at: at,
    explicit: statement.explicit,
    last_recalled_at: null,
    confirmed_by: [],
    events: [{ at, event: "added" }],
  };
}

/** ISO 8601 of the beginning: when it was said, or a date that was named. */
function beginningOf(said: string | null, statedAt: string): string {
  const begins = said === null ? Number.NaN : Date.parse(said);
  return Number.isFinite(begins) ? new Date(begins).toISOString() : statedAt;
}

/** ISO 8601 of the end, or null. A date without a time holds through its day, where the guest is. */
export function endOf(statement: Pick<Statement, "scope" | "valid_until">, statedAt: string, timeZone = "UTC"): string | null {
  if (statement.valid_until !== null) {
    const end = endOfDay(statement.valid_until, timeZone) ?? Date.parse(statement.valid_until);
    if (Number.isFinite(end)) return new Date(end).toISOString();
  }
  return statement.scope === "trip" ? new Date(Date.parse(statedAt) + TRIP_DAYS * DAY_MS).toISOString() : null;
}

/** What a memory that no message stated is made of; the rest is what such a memory always has. */
type MadeByCode = Pick<MemoryRecord, "id" | "text" | "category" | "aspect" | "type" | "explicit"> &
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
