import { type Memory, type Statement, statementSchema } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import { readableName } from "../domain/need-name.js";
import type { Owner } from "../domain/owner.js";
import { needsNamedIn } from "../languages/needs-named.js";
import { WordList, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { MemoryLog, MemoryLogEntry } from "../ports/memory-log.js";
import type { CheckedOperation, CheckedReading } from "./checked-operation.js";
import { broughtAlong } from "./checks/brought-along.js";
import { textOutside } from "./checks/spans.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { ProposedChange } from "./proposed-change.js";
import { takenBack } from "./taken-back.js";

const OTHER = "other";

/**
 * What the guest asked not to keep. A need that may be hard is not dropped in silence for it: its name waits for the guest's word, and
 * nothing else of what was said.
 */

/** Of a message that is itself off the record: the names of what may be hard, each once, waiting. */
export function waitingOffRecord(changes: readonly ProposedChange[]): ProposedChange[] {
  const named = new Set<string>();
  return changes.flatMap((change) => {
    const { op, statement, source, waits } = change;
    if (op !== "add" || statement === null || statement.strength !== "hard") return [];
    const nameOnly = unsaid(statement);
    const name = `${nameOnly.subject}|${nameOnly.text}`;
    if (named.has(name)) return [];
    named.add(name);
    return [{ ...change, statement: nameOnly, source: source === null ? null : { ...source, quote: "" }, waits: waits ?? "off_record" }];
  });
}

/** The need's name, or of what is none of the domain's needs its category's, in the place of all words. */
function unsaid<S extends Pick<Statement, "need" | "category">>(said: S) {
  const text = readableName(said.need === null || said.need === OTHER ? said.category : said.need);
  return { ...said, text, aspect: "", condition: "", about: "", entities: [], tags: [] };
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
      const entries: MemoryLogEntry[] = [];
      for await (const entry of log.read(owner)) if (entry.seq <= memories.seq) entries.push(entry);
      const back = takenBack(memories.records, entries, asked, now);
      const removed = back.removed.flatMap((id) => memories.records.get(id) ?? []);
      const hard = removed.filter(({ strength, status }) => strength === "hard" && (status === "active" || status === "review"));
      const waiting = hard.filter((record) => record.reason !== "off_record").map((record) => offRecord(record, now));
      const gone = removed.filter((record) => !hard.includes(record)).map(({ id }) => id);
      const puts = [...back.puts, ...waiting];
      const result = hard.map((record) => memoryOf(offRecord(record, now)));
      return { entry: puts.length + gone.length === 0 ? null : { kind: "undo", turn: null, puts, removed: gone }, result };
    },
    { now },
  );
  // The log's older entries too; also when nothing is left to change: a call before may have been broken off here.
  const isTheirs = ({ source }: MemoryRecord) => source !== null && asked.has(source.message_id);
  await logs.redact(owner, (record) => {
    if (!isTheirs(record)) return record;
    const now = after.records.get(record.id);
    return now === undefined ? null : now.reason === "off_record" ? withoutWords(record) : record;
  });
  return result;
}

function offRecord(record: MemoryRecord, now: Date): MemoryRecord {
  return { ...withoutWords(record), status: "review", reason: "off_record", asked: 0, updated_at: now.toISOString() };
}

function withoutWords(record: MemoryRecord): MemoryRecord {
  return { ...unsaid(record), source: record.source === null ? null : { ...record.source, quote: "" } };
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
  const seen = new Set(reading.operations.map(({ statement }) => statement?.need));
  const unseen = [...needsNamedIn(ownWordsOf(message), needs)].filter((name) => !seen.has(name));
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
  return { ...reading, operations: [...reading.operations, ...named], off_record: reading.off_record ?? "this" };
}

function ownWordsOf(message: string): string {
  return textOutside(message, { start: 0, end: message.length }, broughtAlong(message));
}
