import { STATED_TYPES } from "../domain/memory.js";
import { jsonIn } from "../platform/json.js";
import {
  type NeedsReading,
  PROPOSED_OPS,
  type ProposedOperation,
  proposedOperationSchema,
  type Reading,
  STANCES,
} from "../ports/extraction.js";

/** A model's answer as a reading: also in older forms, with extra or missing optional fields, numbers as strings, or text around it. */

/** Operations that are looked at in one answer. */
const MAX_OPERATIONS = 30;

/** Why an answer can't be read at all. */
export type Unreadable = "empty" | "not_json" | "wrong_form";

/** `idOf` knows what the model calls a known memory. */
export function readingFrom(text: string, idOf: (ref: string) => string | undefined): Reading | Unreadable {
  const read = proposalsIn(text, idOf);
  if (typeof read === "string") return read;
  return { operations: read.proposals.map(({ operation }) => operation), off_record: read.offRecord, unreadable: read.unreadable };
}

/** What an answer gives for work that was asked for beside its reading; nothing of one that was cut. */
export function alsoIn(answer: string): Readonly<Record<"title" | "summary", string>> {
  const found = jsonIn(answer);
  const value = found?.whole === true ? unwrapped(found.value) : null;
  return isFields(value) ? { title: nothing(value.title) ?? "", summary: nothing(value.summary) ?? "" } : { title: "", summary: "" };
}

/** An answer about some needs alone. */
export function needsReadingFrom(text: string, idOf: (ref: string) => string | undefined): NeedsReading | Unreadable {
  const reading = readingFrom(text, idOf);
  if (typeof reading === "string") return reading;
  const value = unwrapped(jsonIn(text)?.value);
  return { ...reading, nobodys: isFields(value) ? textsOf(value.nobodys) : [] };
}

/** A message that was read along with another one: its name in the document, and whether a quote stands in it. */
export interface ReadAlong {
  readonly ref: string;
  readonly holds: (quote: string) => boolean;
}

/**
 * One answer about several messages, the last of them the new one. A proposal belongs to the message that it names if its quote stands
 * there, else to the newest in which it stands. What can't be read is counted with the new one. Readings come in the messages' order; of
 * an answer that was cut, the new one's alone.
 */
export function readingsFrom(
  text: string,
  idOf: (ref: string) => string | undefined,
  messages: readonly ReadAlong[],
): readonly (Reading | null)[] | Unreadable {
  const read = proposalsIn(text, idOf);
  if (typeof read === "string") return read;
  const last = messages.length - 1;
  const operations = messages.map((): ProposedOperation[] => []);
  for (const { operation, message } of read.proposals) {
    const named = messages.findIndex(({ ref, holds }) => ref === message && holds(operation.quote));
    const place = named === -1 ? messages.findLastIndex(({ holds }) => holds(operation.quote)) : named;
    operations[place === -1 ? last : place]?.push(operation);
  }
  return messages.map(({ ref }, place) => {
    const own = operations[place] ?? [];
    if (place === last) return { operations: own, off_record: read.offRecord, unreadable: read.unreadable };
    return read.whole ? { operations: own, off_record: read.offRecordOf.get(ref) ?? null, unreadable: 0 } : null;
  });
}

interface Proposals {
  /** `message`: the one that the model says it is from, where several were read. */
  readonly proposals: readonly { readonly operation: ProposedOperation; readonly message: string }[];
  readonly offRecord: Reading["off_record"];
  /** Of messages that were read along, by their names. */
  readonly offRecordOf: ReadonlyMap<string, Reading["off_record"]>;
  readonly unreadable: number;
  /** False where the answer was cut. */
  readonly whole: boolean;
}

function proposalsIn(answer: string, idOf: (ref: string) => string | undefined): Proposals | Unreadable {
  if (answer.trim() === "") return "empty";
  const found = jsonIn(answer);
  if (found === null) return "not_json";
  const { whole } = found;
  const value = unwrapped(found.value);
  const list = listOf(value);
  const offRecord = offRecordOf(value);
  const more = offRecordOfEarlier(value);
  if (list === null) return offRecord === null ? "wrong_form" : { proposals: [], offRecord, offRecordOf: more, unreadable: 0, whole };
  const proposals: { readonly operation: ProposedOperation; readonly message: string }[] = [];
  let unreadable = whole ? 0 : 1;
  for (const item of list.slice(0, MAX_OPERATIONS)) {
    const operation = operationFrom(item, idOf);
    if (operation === null) unreadable++;
    else proposals.push({ operation, message: isFields(item) ? word(item.message) : "" });
  }
  if (proposals.length === 0 && unreadable > 0 && offRecord === null && more.size === 0) return "wrong_form";
  return { proposals, offRecord, offRecordOf: more, unreadable, whole };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As if there were no object around the one that holds the operations. */
function unwrapped(value: unknown): unknown {
  if (!isFields(value) || Array.isArray(value.operations)) return value;
  const inner = Object.values(value).find((each) => isFields(each) && Array.isArray(each.operations));
  return isFields(inner) ? { ...value, ...inner } : value;
}

/** A list of its own, under a name, or one operation by itself. An object without any gives nothing. */
function listOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isFields(value)) return null;
  if (typeof value.quote === "string") return [value];
  for (const name of ["operations", "memories", "memory", "ops", "result"]) {
    const inner = value[name];
    if (Array.isArray(inner)) return inner;
    if (isFields(inner)) return typeof inner.quote === "string" ? [inner] : Object.values(inner);
    if (inner === null) return [];
  }
  return Object.keys(value).length === 0 ? [] : null;
}

function offRecordOf(value: unknown): Reading["off_record"] {
  if (!isFields(value)) return null;
  const said = typeof value.off_record === "string" ? value.off_record.trim().toLowerCase() : value.off_record;
  if (said === true || said === "this" || said === "true") return "this";
  return said === "previous" ? "previous" : null;
}

function offRecordOfEarlier(value: unknown): ReadonlyMap<string, Reading["off_record"]> {
  const list = isFields(value) && Array.isArray(value.earlier_off_record) ? value.earlier_off_record : [];
  return new Map(list.flatMap((item) => (isFields(item) ? [[word(item.message), offRecordOf({ off_record: item.which })] as const] : [])));
}

/** Names that models give to operations. */
const OPS: Readonly<Record<string, ProposedOperation["op"]>> = {
  ...Object.fromEntries(PROPOSED_OPS.map((op) => [op, op])),
  create: "add",
  insert: "add",
  new: "add",
  update: "supersede",
  replace: "supersede",
  delete: "forget",
  remove: "forget",
  expire: "end",
};

function operationFrom(item: unknown, idOf: (ref: string) => string | undefined): ProposedOperation | null {
  if (!isFields(item)) return null;
  // The older form has its statement inside.
  const fields: Fields = { ...item, ...(isFields(item.statement) ? item.statement : {}), quote: item.quote };
  const op = item.op === undefined ? "add" : OPS[word(item.op)];
  if (op === undefined || typeof fields.quote !== "string" || fields.quote.trim() === "") return null;
  const target = text(fields.target ?? fields.target_id ?? fields.id);
  const parsed = proposedOperationSchema.safeParse({
    op,
    quote: fields.quote,
    target_id: op === "add" ? null : (idOf(target) ?? null),
    text: text(fields.text),
    about: text(fields.about),
    category: text(fields.category) || "other",
    aspect: text(fields.aspect),
    condition: text(fields.condition),
    need: nothing(fields.need),
    type: oneOf(fields.type, STATED_TYPES) ?? null,
    strength: oneOf(fields.strength, ["hard", "soft"] as const) ?? "soft",
    subject: subjectOf(text(fields.subject)),
    scope: oneOf(fields.scope, ["standing", "trip"] as const) ?? "standing",
    valid_from: nothing(fields.valid_from),
    valid_until: nothing(fields.valid_until),
    // What is said of a stance that isn't known is not that it was meant.
    stance: word(fields.stance) === "" ? "stated" : (oneOf(fields.stance, STANCES) ?? "unsure"),
    confidence: confidenceOf(fields.confidence),
    explicit: !(fields.explicit === false || word(fields.explicit) === "false"),
    entities: textsOf(fields.entities),
    tags: textsOf(fields.tags),
  });
  return parsed.success ? parsed.data : null;
}

function text(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value.trim() : "";
}

function word(value: unknown): string {
  return text(value).toLowerCase();
}

/** Null for what models write for it. */
function nothing(value: unknown): string | null {
  const said = text(value);
  return ["", "null", "none", "n/a"].includes(said.toLowerCase()) ? null : said;
}

function oneOf<T extends string>(value: unknown, values: readonly T[]): T | undefined {
  const said = word(value);
  return values.find((each) => each === said);
}

function subjectOf(said: string): string {
  const lower = said.toLowerCase();
  if (["", "self", "user", "guest"].includes(lower)) return "self";
  return lower.startsWith("companion:") ? `companion:${said.slice("companion:".length).trim()}` : `companion:${said}`;
}

function confidenceOf(value: unknown): number {
  const said = typeof value === "number" ? value : Number.parseFloat(text(value));
  if (!Number.isFinite(said)) return 1;
  return Math.min(1, Math.max(0, said > 1 ? said / 100 : said));
}

function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.map(text).filter((item) => item !== "");
}
