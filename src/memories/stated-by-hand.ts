import { z } from "zod";
import { type Category, categoryOf } from "../domain/categories.js";
import { type MemoryPatch, type MemoryType, type NewStatement, type Statement, statementSchema } from "../domain/memory.js";
import type { MemoryRecord } from "../domain/memory-record.js";
import { holdsSecret } from "../domain/secrets.js";
import { AppError } from "../platform/errors.js";
import { isNamedIn, SaidWords } from "./checks/said-words.js";
import { entitiesNaming, nameOf } from "./companions.js";
import { withEvent } from "./record-changes.js";
import { categorySpelling } from "./spelling.js";
import { endOf } from "./statement-record.js";

/**
 * A statement that the user adds by hand. Strength and type that are left out are the category's own, so that an allergy holds without a
 * word about it. @throws INVALID_REQUEST with what is wrong where it can't be stored, MEMORY_REFUSED for a secret or a narrative
 */
export function byHand(given: NewStatement, categories: readonly Category[]): Statement {
  refuseNarrative(given);
  const said = storable(storableSchema, { ...given, category: given.category ?? "other" });
  refuseSecret(said);
  const name = categorySpelling(said.category, categories);
  const category = categoryOf(categories, name);
  const strength = said.strength ?? category?.strength ?? "soft";
  const type = said.type ?? (strength === category?.strength ? category.type : strength === "hard" ? "constraint" : "preference");
  const parsed = statementSchema.safeParse({ ...said, category: name, type, strength });
  if (!parsed.success)
    throw new AppError("INVALID_REQUEST", {
      errors: parsed.error.issues.map(({ path, message }) => ({ pointer: `/${path.join("/")}`, detail: message })),
    });
  return { ...parsed.data, entities: entitiesNaming(parsed.data.entities, parsed.data.subject) };
}

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "not an ISO 8601 time");
const storableShape = statementSchema.extend({
  text: statementSchema.shape.text.refine((text) => text.trim() !== "", "must not be blank"),
  valid_from: time.nullable().default(null),
  valid_until: time.nullable().default(null),
});
const storableSchema = storableShape.refine(
  ({ valid_from, valid_until }) => valid_from === null || valid_until === null || Date.parse(valid_from) < Date.parse(valid_until),
  { path: ["valid_until"], message: "ends before it begins" },
);
const editSchema = storableShape.partial();

/** What comes from outside may be anything: each field that can't be stored is named. Returns what was given, without defaults. */
function storable<T extends object>(schema: z.ZodType, given: T): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return given;
  const errors = parsed.error.issues.map(({ path, message }) => ({ pointer: `/${path.join("/")}`, detail: message }));
  throw new AppError("INVALID_REQUEST", { detail: "This can't be stored.", errors });
}

/** An edit by hand, with its category as the table has it. @throws INVALID_REQUEST as {@link byHand}, MEMORY_REFUSED for a secret */
export function editedByHand(given: MemoryPatch, categories: readonly Category[]): MemoryPatch {
  refuseNarrative(given);
  const edited = storable(editSchema, given);
  refuseSecret(edited);
  return edited.category === undefined ? edited : { ...edited, category: categorySpelling(edited.category, categories) };
}

/** @throws MEMORY_REFUSED: it is told of other memories */
export function refuseNarrative({ type }: { readonly type?: MemoryType | undefined }): void {
  if (type !== "narrative") return;
  const detail = "A narrative is told of other memories: state or edit those.";
  throw new AppError("MEMORY_REFUSED", { detail, errors: [{ pointer: "/type", detail }] });
}

type Wording = { readonly [K in "text" | "aspect" | "condition" | "about" | "subject"]?: NewStatement[K] } & {
  readonly tags?: readonly string[] | undefined;
};

function refuseSecret(said: Wording): void {
  if (!holdsSecret(wordsToStore(said))) return;
  const isIn = (words: readonly string[]) => holdsSecret(words.join(" | "));
  const at = WORDING.find((field) => isIn([said[field] ?? []].flat())) ?? "text";
  throw new AppError("MEMORY_REFUSED", { detail: HOLDS_SECRET, errors: [{ pointer: `/${at}`, detail: HOLDS_SECRET }] });
}

export const HOLDS_SECRET = "It holds a password, a card number or another secret.";
const WORDING = ["text", "aspect", "condition", "about", "subject", "tags"] as const;

/** All words of a statement, as secrets are looked for in them. */
export function wordsToStore({ text = "", aspect = "", condition = "", about = "", subject = "", tags = [] }: Wording): string {
  return [text, aspect, condition, about, subject, ...tags].filter((words) => words !== "").join(" | ");
}

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
