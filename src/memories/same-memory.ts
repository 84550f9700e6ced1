import { normalised } from "../domain/folded-text.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { type Attitude, attitudeIn, contradicts, mayTellOf } from "../languages/attitudes.js";
import { sayOtherNumbers } from "../languages/numbers.js";
import type { Companions } from "./companions.js";

/** When two statements are one. Narrow: what is only alike stands side by side, and the model says what confirms what. */

/** For this trip, or with an end of its own. A superseded memory has an end too: its own was none while `scope` is standing. */
export function isTemporary(record: MemoryRecord): boolean {
  return record.scope === "trip" || (record.valid_until !== null && record.status !== "superseded");
}

/** The same person, under the same condition, both lasting or both not. */
export function sameFrame(a: MemoryRecord, b: MemoryRecord, companions: Companions): boolean {
  return (
    companions.same(a.subject, b.subject) &&
    (a.condition === b.condition || normalised(a.condition) === normalised(b.condition)) &&
    isTemporary(a) === isTemporary(b) &&
    (a.type === "episodic") === (b.type === "episodic") &&
    !companions.areTwo(a, b)
  );
}

/** Compared with every statement of a turn: worked out once for as long as the record is held. */
const texts = new WeakMap<MemoryRecord, string>();

function textOf(record: MemoryRecord): string {
  const known = texts.get(record);
  if (known !== undefined) return known;
  const text = normalised(record.text);
  texts.set(record, text);
  return text;
}

/** The same words, or the same need of the same person; "at most 60" and "at most 90" are two. */
export function saySame(a: MemoryRecord, b: MemoryRecord, companions: Companions): boolean {
  if (!sameFrame(a, b, companions)) return false;
  if (textOf(a) === textOf(b)) return a.type !== "episodic" || sameDay(a, b);
  return isNamedNeed(a) && a.need === b.need && a.strength === "hard" && b.strength === "hard" && !sayOtherNumbers(a.text, b.text);
}

/** Compared with every taste of a person: worked out once for as long as the record is held. */
const attitudes = new WeakMap<MemoryRecord, Attitude | null>();

function attitudeOf(record: MemoryRecord): Attitude | null {
  const known = attitudes.get(record);
  if (known !== undefined) return known;
  const attitude = attitudeIn(record.text);
  attitudes.set(record, attitude);
  return attitude;
}

/** "Loves ballet", where "hates ballet" was: of one person and one thing, of which nobody has both. `other`: one of many. */
export function isTurned(other: MemoryRecord, record: MemoryRecord): boolean {
  const attitude = attitudeOf(record);
  return attitude !== null && mayTellOf(other.text, attitude) && contradicts(attitudeOf(other), attitude);
}

/** What waits of the same thing, person and need: said plainly now, it is not to be asked about any more. */
export function restates(said: MemoryRecord, waiting: MemoryRecord, companions: Companions): boolean {
  if (waiting.status !== "review" || said.status !== "active" || !sameFrame(said, waiting, companions)) return false;
  // What begins later says nothing of until then.
  if (Date.parse(said.valid_from) > Date.parse(said.stated_at)) return false;
  const about = normalised(said.about);
  return said.strength === "hard" && said.need === waiting.need && about !== "" && about === normalised(waiting.about);
}

/** Which of the domain's needs it is, where the other, of the same words, doesn't tell. */
export function tellsNeedOf(a: MemoryRecord, b: MemoryRecord): boolean {
  return a.strength === "hard" && isNamedNeed(a) && !isNamedNeed(b);
}

/** What was doubted, in another message and in words of its own: these are kept, and not those of the doubt. */
export function saysPlainly(said: MemoryRecord, waiting: MemoryRecord): boolean {
  if (waiting.status !== "review" || said.status !== "active" || said.source === null) return false;
  return said.source.message_id !== waiting.source?.message_id && normalised(said.text) !== normalised(waiting.text);
}

/** By hand, in other words than what holds: "peanuts" and "walnuts" are one need, and neither is to be lost for the other. */
export function standsBeside(written: MemoryRecord, known: MemoryRecord): boolean {
  return written.source === null && known.status === "active" && normalised(written.text) !== normalised(known.text);
}

export function isNamedNeed(record: MemoryRecord): boolean {
  return record.need !== null && record.need !== "other";
}

/** What happened is told again on the same day; on another day it is another event. */
function sameDay(a: MemoryRecord, b: MemoryRecord): boolean {
  return Math.abs(Date.parse(a.stated_at) - Date.parse(b.stated_at)) < 86_400_000;
}

/** Two accounts of one message, such as the tool's that remembered it and the reader's: overlapping quotes that name the same thing. */
export function isTwin(a: MemoryRecord, b: MemoryRecord, companions: Companions): boolean {
  if (a.source === null || b.source === null || a.source.message_id !== b.source.message_id) return false;
  if (!sameFrame(a, b, companions) || a.category !== b.category || a.strength !== b.strength) return false;
  const [left, right] = [normalised(a.source.quote), normalised(b.source.quote)];
  if (!left.includes(right) && !right.includes(left)) return false;
  const oneAspect = a.aspect !== "" && normalised(a.aspect) === normalised(b.aspect);
  const oneThing = a.about !== "" && normalised(a.about) === normalised(b.about);
  return oneThing || (oneAspect && (a.about === "" || b.about === ""));
}
