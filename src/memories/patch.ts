import type { MemoryPatch } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { AppError } from "../platform/errors.js";
import { isNamedIn } from "./checks/named-thing.js";
import { SaidWords } from "./checks/said-words.js";
import { withEvent } from "./record-changes.js";
import { endOf } from "./statement-record.js";

/** The record as the user edited it: stated anew, by hand, and sure. @throws INVALID_REQUEST for an end that is over already */
export function patched(record: MemoryRecord, patch: MemoryPatch, now: Date, timeZone = "UTC"): MemoryRecord {
  const scope = patch.scope ?? record.scope;
  const ends = "valid_until" in patch || "scope" in patch;
  const at = now.toISOString();
  const validUntil = ends ? endOf({ scope, valid_until: patch.valid_until ?? null }, at, timeZone) : record.valid_until;
  if (ends && validUntil !== null && Date.parse(validUntil) <= now.getTime())
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/valid_until", detail: "It is over already." }] });
  const changesText = patch.text !== undefined && patch.text.trim() !== record.text;
  const strength = patch.strength ?? record.strength;
  const thing = changesText ? thingOf(record, patch, strength) : {};
  return {
    ...record,
    ...thing,
    text: patch.text?.trim() ?? record.text,
    category: patch.category ?? record.category,
    ...(patch.aspect !== undefined && { aspect: patch.aspect }),
    type: patch.type ?? record.type,
    strength,
    subject: patch.subject ?? record.subject,
    tags: patch.tags ?? record.tags,
    scope,
    valid_until: validUntil,
    stated_at: changesText ? at : record.stated_at,
    valid_from: changesText ? at : record.valid_from,
    last_confirmed_at: at,
    explicit: true,
    confidence: 1,
    events: withEvent(record, now, "edited"),
    updated_at: at,
  };
}

/**
 * What a new text leaves of the thing that the old one was about: another thing is met by nothing that met the old one. Which of the
 * domain's needs it is, nobody has read.
 */
function thingOf(record: MemoryRecord, { text = "" }: MemoryPatch, strength: MemoryRecord["strength"]): Partial<MemoryRecord> {
  if (record.about !== "" && isNamedIn(record.about, new SaidWords(text))) return {};
  if (record.need === null && record.about === "") return {};
  return { about: "", aspect: "", need: strength === "hard" ? "other" : null };
}
