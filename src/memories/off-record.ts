import { type Memory, type MemorySource, type Statement, statementSchema } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import { readableName } from "../domain/need-name.js";
import type { Owner } from "../domain/owner.js";
import { needsNamedIn } from "../languages/need-talk.js";
import { collected } from "../platform/collected.js";
import { WordList, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { CheckedOperation, CheckedReading } from "./checked-operation.js";
import { broughtAlong } from "./checks/brought-along.js";
import { textOutside } from "./checks/spans.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { ProposedChange } from "./proposed-change.js";
import { takenBack } from "./taken-back.js";

const OTHER = "other";
/** Nothing of what was said. */
const UNSAID = { aspect: "", condition: "", about: "", entities: [], tags: [] };

/**
 * What the guest asked not to keep. A need that may be hard is not dropped in silence for it: its name waits for the guest's word, and
 * nothing else of what was said.
 */

/** Of a message that is itself off the record: the names of what may be hard, each once, waiting. */
export function waitingOffRecord(changes: readonly ProposedChange[]): ProposedChange[] {
  const named = new Set<string>();
  return changes.flatMap((change) => {
    const { statement, source, waits } = change;
    if (statement?.strength !== "hard") return [];
    const nameOnly = nameOf(statement, waits !== null);
    const name = `${nameOnly?.subject}|${nameOnly?.text}`;
    if (nameOnly === null || named.has(name)) return [];
    named.add(name);
    const unquoted = source && { ...source, quote: "" };
    return [{ ...change, op: "add", target_id: null, statement: nameOnly, source: unquoted, waits: waits ?? "off_record" }];
  });
}

/**
 * The name of a need in the place of all words; of what is none of the domain's needs its category's. Whose it is stays with a need that
 * was said plainly: of what was doubted that may be no more than a word of the message. Null where no name tells what the guest would be
 * asked about.
 */
function nameOf<S extends Pick<Statement, "need" | "category" | "subject">>(said: S, isDoubted: boolean) {
  const { need, category } = said;
  if (!isNeed(need) && (isDoubted || category === OTHER)) return null;
  const text = readableName(isNeed(need) ? need : category);
  const subject = isNeed(need) && !isDoubted ? said.subject : "self";
  return { ...said, ...UNSAID, text, subject };
}

/** One of the domain's. */
function isNeed(need: string | null): need is string {
  return need !== null && need !== OTHER;
}

/** Takes out what messages alone gave. Safe to repeat. Returns the hard ones, which wait. */
export async function takeOffRecord(
  { logs, log }: { readonly logs: OwnerLogs; readonly log: Pick<MemoryLog, "read"> },
  owner: Owner,
  messageIds: readonly string[],
  { now }: { readonly now: Date },
): Promise<readonly Memory[]> {
  const asked = new Set(messageIds);
  const { memories: after, result } = await logs.change(
    owner,
    async (memories) => {
      const entries = (await collected(log.read(owner))).filter(({ seq }) => seq <= memories.seq);
      const back = takenBack(memories.records, entries, asked, now);
      const removed = back.removed.flatMap((id) => memories.records.get(id) ?? []);
      const hard = removed.filter(({ strength, status }) => strength === "hard" && (status === "active" || status === "review"));
      const waiting = hard.flatMap((record) => offRecord(record, now) ?? []);
      const stays = new Set(waiting.map(({ id }) => id));
      const gone = removed.flatMap(({ id }) => (stays.has(id) ? [] : [id]));
      const puts = [...back.puts, ...waiting.filter(({ id }) => memories.records.get(id)?.reason !== "off_record")];
      const result = waiting.map(memoryOf);
      return { entry: puts.length + gone.length === 0 ? null : { kind: "undo", turn: null, puts, removed: gone }, result };
    },
    { now },
  );
  // The log's older entries too; also when nothing is left to change: a call before may have been broken off here.
  const isTheirs = (source: MemorySource | null | undefined) => source != null && asked.has(source.message_id);
  await logs.redact(owner, (record) => {
    if (!isTheirs(record.source)) return isTheirs(record.pending_change?.source) ? { ...record, pending_change: null } : record;
    const now = after.records.get(record.id);
    return now === undefined ? null : now.reason === "off_record" ? withoutWords(record, now) : record;
  });
  return result;
}

function offRecord(record: MemoryRecord, now: Date): MemoryRecord | null {
  const name = record.reason === "off_record" ? record : nameOf(record, record.reason !== null);
  return name && { ...withoutWords(record, name), status: "review", reason: "off_record", asked: 0, updated_at: now.toISOString() };
}

function withoutWords(record: MemoryRecord, { text, subject }: Pick<Statement, "text" | "subject">): MemoryRecord {
  return { ...record, ...UNSAID, text, subject, source: record.source === null ? null : { ...record.source, quote: "" } };
}

/** Made once for a domain. */
const LISTS = new WeakMap<readonly string[], WordList>();

/** Whether the guest's own words ask, in one of the plain forms, that their message is not kept. */
export function asksNotToKeep(message: string, forms: readonly string[]): boolean {
  if (forms.length === 0) return false;
  const list = LISTS.get(forms) ?? new WordList(forms);
  LISTS.set(forms, list);
  return list.in(wordsIn(ownWordsOf(message))) !== -1;
}

/** Behind the operations of any reader. */
const FIRST_INDEX = 900;

/** The reading of a message that is off the record, whatever its reader made of that; with the needs that its own words name. */
export function offTheRecord(message: string, reading: CheckedReading, needs: readonly Need[]): CheckedReading {
  const told = needsNamedIn(ownWordsOf(message), needs);
  const seen = new Set(reading.operations.map(({ statement }) => statement?.need));
  const unseen = [...told].filter((name) => !seen.has(name));
  // What the guest's own words don't name may be a reader's alone.
  const isTold = ({ statement }: CheckedOperation) => !isNeed(statement?.need ?? null) || told.has(statement?.need ?? "");
  const read = reading.operations.map((each) => (isTold(each) ? each : { ...each, waits: each.waits ?? ("off_record" as const) }));
  const named = unseen.map(
    (need, place): CheckedOperation => ({
      op: "add",
      index: FIRST_INDEX + place,
      target_id: null,
      quote: "",
      statement: statementSchema.parse({ text: need, category: "other", type: "constraint", strength: "hard", need }),
      waits: "off_record",
      brought_along: false,
    }),
  );
  return { ...reading, operations: [...read, ...named], off_record: reading.off_record ?? "this" };
}

function ownWordsOf(message: string): string {
  return textOutside(message, { start: 0, end: message.length }, broughtAlong(message));
}
