import type { Memory } from "../../src/long-term.js";
import { newId } from "../../src/platform/ids.js";

/** A hard constraint as the store gives it, with its source. */
export function constraint(text: string, category: string, subject = "self", more: Partial<Memory> = {}): Memory {
  const at = "2026-01-10T10:00:00.000Z";
  return {
    id: newId(),
    text,
    category,
    aspect: "",
    type: "constraint",
    strength: "hard",
    subject,
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
    source: { session_id: "earlier", turn: 3, message_id: "m-3", quote: `Please note: ${text.toLowerCase()}` },
    created_at: at,
    updated_at: at,
    ...more,
  };
}
