import { type Category, categoryOf } from "../domain/categories.js";
import type { RestorableMemory } from "../domain/memory.js";
import { type MemoryRecord, recordOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { proposedOperationSchema } from "../ports/extraction.js";
import { holdsSecret } from "./checks/secrets.js";
import { byHand, wordsToStore } from "./stated-by-hand.js";
import type { CheckProposed } from "./tool-proposals.js";

export interface FromFileParts {
  readonly checkProposed: CheckProposed;
  readonly categories: readonly Category[];
}

/**
 * What becomes of a memory that comes in a file. Its quote must bear out its text, as that of a reading must; else it is what a statement
 * by hand would be, without a source, and waits for the guest's word where it must hold or tells how to act. A secret is refused. What
 * waits or is past stays so. Null: refused.
 */
export async function admittedFromFile(
  owner: Owner,
  { said, ...memory }: RestorableMemory,
  { checkProposed, categories }: FromFileParts,
): Promise<MemoryRecord | null> {
  const record = withoutSecretChange(recordOf(memory));
  if (holdsSecret(wordsToStore(record)) || holdsSecret(record.source?.quote ?? "")) return null;
  if (record.status !== "active") return record;
  const { source } = record;
  if (source !== null && source.quote !== "") {
    const { text = source.quote, before = null } = said ?? {};
    const context = before === null ? [] : [{ role: "assistant" as const, content: before }];
    const at = { stated_at: new Date(record.stated_at), time_zone: "UTC" };
    const message = { owner, ...source, text, ...at, context, known: [] };
    const { text: words, about, category, need, strength, subject, type } = record;
    const proposal = { op: "add", quote: source.quote, text: words, about, category, need, strength, subject, type };
    const { operations, dropped } = await checkProposed(message, [proposedOperationSchema.parse(proposal)]);
    const [operation] = operations;
    if (operation?.waits === null && operation.statement?.text === words) return unlessInstruction(record, categories);
    if (dropped.secret !== undefined) return null;
  }
  return asByHand({ ...record, source: null }, categories);
}

/** @throws INVALID_REQUEST for what can't be stored */
function asByHand(record: MemoryRecord, categories: readonly Category[]): MemoryRecord {
  const { text, category, aspect, condition, about, subject, tags, strength } = record;
  byHand({ text, category, aspect, condition, about, subject, tags: [...tags] }, categories);
  if (strength === "hard") return { ...record, status: "review", reason: "reported" };
  return unlessInstruction(record, categories);
}

/** What tells how to act, and is none of what the table's categories know of that (language, channel, style), waits. */
function unlessInstruction(record: MemoryRecord, categories: readonly Category[]): MemoryRecord {
  const { type, category, aspect } = record;
  const isInstruction = type === "procedural" && categoryOf(categories, category)?.fixed.includes(aspect) !== true;
  return isInstruction ? { ...record, status: "review", reason: "instruction" } : record;
}

function withoutSecretChange(record: MemoryRecord): MemoryRecord {
  const { pending_change: change } = record;
  const words = `${change?.statement ? wordsToStore(change.statement) : ""} | ${change?.source?.quote ?? ""}`;
  return change !== null && holdsSecret(words) ? { ...record, pending_change: null } : record;
}
