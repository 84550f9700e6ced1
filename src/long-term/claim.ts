import type { MemorySource, Statement } from "../long-term.js";
import { type Category, CONCIERGE_CATEGORIES, categoryOf } from "./categories.js";
import type { MemoryRecord } from "./record.js";

/** A statement on its way to become a memory, whoever proposed it. */
export interface Claim {
  /** The memory's id to be. */
  readonly id: string;
  /** ISO 8601. */
  readonly statedAt: string;
  /** Null when the user added it by hand. */
  readonly source: MemorySource | null;
  readonly statement: Statement;
  /** Kept, shown, and not used before the user approves it. */
  readonly review: boolean;
  /** The memory that it takes the place of. */
  readonly replaces: string | null;
}

/** A statement for this trip alone, without a date, holds this long after it was said. */
const TRIP_DAYS = 30;
const DAY_MS = 86_400_000;

/** The record that a claim makes. */
export function recordFrom(claim: Claim, now: Date, categories: readonly Category[] = CONCIERGE_CATEGORIES): MemoryRecord {
  const { statement } = claim;
  const statedAt = new Date(claim.statedAt).toISOString();
  const at = now.toISOString();
  return {
    id: claim.id,
    text: statement.text.trim(),
    category: statement.category,
    aspect: statement.aspect.trim() === "" ? onlyAspect(statement.category, categories) : statement.aspect.trim(),
    type: statement.type,
    strength: statement.strength,
    subject: statement.subject,
    scope: statement.scope,
    status: claim.review || !statement.explicit ? "review" : "active",
    stated_at: statedAt,
    valid_from: statedAt,
    valid_until: endOf(statement, statedAt),
    superseded_by: null,
    confidence: statement.confidence,
    seen_count: 1,
    last_confirmed_at: statedAt,
    entities: statement.entities,
    tags: statement.tags,
    source: claim.source,
    created_at: at,
    updated_at: at,
    explicit: statement.explicit,
    last_recalled_at: null,
    confirmed_by: [],
    events: [{ at, event: "added" }],
  };
}

/** A category that is about one thing only names it by itself: a party size has no other aspect than its size. */
function onlyAspect(name: string, categories: readonly Category[]): string {
  const category = categoryOf(categories, name);
  return category?.open === null && category.fixed.length === 1 ? (category.fixed[0] ?? "") : "";
}

/** ISO 8601 of the end, or null. A date without a time holds through its day (UTC). */
export function endOf(statement: Pick<Statement, "scope" | "valid_until">, statedAt: string): string | null {
  if (statement.valid_until !== null) {
    const dateOnly = /^\d{4}-\d{2}-\d{2}$/.test(statement.valid_until);
    const end = Date.parse(statement.valid_until) + (dateOnly ? DAY_MS : 0);
    if (Number.isFinite(end)) return new Date(end).toISOString();
  }
  return statement.scope === "trip" ? new Date(Date.parse(statedAt) + TRIP_DAYS * DAY_MS).toISOString() : null;
}
