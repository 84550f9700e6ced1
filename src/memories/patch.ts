import type { MemoryPatch, NewStatement } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { AppError } from "../platform/errors.js";
import { isNamedIn } from "./checks/named-thing.js";
import { SaidWords } from "./checks/said-words.js";
import { entitiesNaming, nameOf } from "./companions.js";
import { withEvent } from "./record-changes.js";
import { endOf } from "./statement-record.js";

/**
 * The record as the user edited it: stated anew, by hand, and sure. `read`: what a new text was read as.
 * @throws INVALID_REQUEST for an end that is over already
 */
export function patched(
  record: MemoryRecord,
  patch: MemoryPatch,
  now: Date,
  { timeZone = "UTC", read }: { readonly timeZone?: string | undefined; readonly read?: NewStatement | undefined } = {},
): MemoryRecord {
  const scope = patch.scope ?? record.scope;
  const ends = "valid_until" in patch || "scope" in patch;
  const at = now.toISOString();
  const validUntil = ends ? endOf({ scope, valid_until: patch.valid_until ?? null }, at, timeZone) : record.valid_until;
  if (ends && validUntil !== null && Date.parse(validUntil) <= now.getTime())
    throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/valid_until", detail: "It is over already." }] });
  const changesText = patch.text !== undefined && patch.text.trim() !== record.text;
  const other = changesText && !namesTheSame(record, patch);
  const mustHold = other && read?.strength === "hard";
  const strength = patch.strength ?? (mustHold ? "hard" : record.strength);
  const thing = other ? thingOf(record, strength, read) : {};
  return {
    ...record,
    ...thing,
    text: patch.text?.trim() ?? record.text,
    category: patch.category ?? (mustHold ? (read?.category ?? record.category) : record.category),
    ...(patch.aspect !== undefined && { aspect: patch.aspect }),
    type: patch.type ?? (mustHold && record.strength === "soft" ? "constraint" : record.type),
    strength,
    ...(patch.subject !== undefined && aboutWhom(record, patch.subject)),
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

/** About somebody else: the one whom it was about is none of its entities any more. */
function aboutWhom({ subject: before, entities }: MemoryRecord, subject: string): Pick<MemoryRecord, "subject" | "entities"> {
  const others = subject === before ? entities : entities.filter((name) => name !== nameOf(before));
  return { subject, entities: entitiesNaming(others, subject) };
}

function namesTheSame({ about }: MemoryRecord, { text = "" }: MemoryPatch): boolean {
  return about !== "" && isNamedIn(about, new SaidWords(text));
}

/** What a new text is about: another thing is met by nothing that met the old one. Which need it is, its reading tells, else nobody. */
function thingOf(record: MemoryRecord, strength: MemoryRecord["strength"], read: NewStatement | undefined): Partial<MemoryRecord> {
  if (strength === "hard" && read?.strength === "hard") return { about: read.about ?? "", aspect: "", need: read.need ?? "other" };
  if (record.need === null && record.about === "") return {};
  return { about: "", aspect: "", need: strength === "hard" ? "other" : null };
}
