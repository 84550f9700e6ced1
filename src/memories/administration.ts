import { type CategoriesOf, type Category, categoryOf } from "../domain/categories.js";
import type { Memory, RestorableMemory } from "../domain/memory.js";
import { type MemoryRecord, memoryOf, recordOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { holdsSecret } from "../domain/secrets.js";
import type { Clock } from "../platform/clock.js";
import type { Logger } from "../platform/logger.js";
import { proposedOperationSchema } from "../ports/extraction.js";
import type { MemoryAdministration, RebuiltMemories } from "../ports/memories.js";
import type { MemoryLog } from "../ports/memory-log.js";
import type { MemoryStore } from "../ports/memory-store.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { Projection } from "./projection.js";
import { byHand, HOLDS_SECRET, wordsToStore } from "./stated-by-hand.js";
import type { CheckProposed } from "./tool-proposals.js";
import { restorable } from "./unforgotten.js";

interface AdministrationParts {
  readonly logs: OwnerLogs;
  readonly log: MemoryLog;
  readonly store: MemoryStore;
  readonly projection: Projection;
  readonly ledger: Pick<OwnerLedger, "tombstones">;
  readonly checkProposed: CheckProposed;
  readonly asksNotToKeep: (owner: Owner, text: string) => boolean;
  readonly categoriesOf: CategoriesOf;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What is done with all memories of an owner, of a session, or of everybody. */
export class MemoriesAsAWhole implements Omit<MemoryAdministration, "close"> {
  readonly #parts: AdministrationParts;

  constructor(parts: AdministrationParts) {
    this.#parts = parts;
  }

  async *all(owner: Owner): AsyncIterable<Memory> {
    const { records } = await this.#parts.logs.known(owner);
    for (const record of [...records.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) yield memoryOf(record);
  }

  async restore(...[owner, memories, { onLeftOut } = {}]: Parameters<MemoryAdministration["restore"]>): Promise<number> {
    const { logs, store, ledger, checkProposed, asksNotToKeep, categoriesOf, clock, logger } = this.#parts;
    const door = { checkProposed, asksNotToKeep, categories: categoriesOf(owner) };
    const given: MemoryRecord[] = [];
    for (const [at, memory] of memories.entries()) {
      // Told of the others, by whatever wrote the file: here it is told anew.
      if (memory.type === "narrative") continue;
      const admitted = await admittedFromFile(owner, memory, door);
      if (typeof admitted === "string") onLeftOut?.(at, admitted);
      else given.push(admitted);
    }
    const taken = await store.takenBySomebodyElse(
      owner,
      memories.map(({ id }) => id),
    );
    const tombstones = await ledger.tombstones(owner);
    const { result } = await logs.change(
      owner,
      ({ records }) => {
        const puts = restorable(owner, given, { known: records, taken, tombstones });
        return { entry: puts.length === 0 ? null : { kind: "import", turn: null, puts, removed: [] }, result: puts.length };
      },
      { now: clock.now() },
    );
    if (result > 0) logger.info({ memories: result }, "Memories were restored");
    return result;
  }

  async detachSession(owner: Owner, sessionId: string, how: "delete" | "drop-quotes"): Promise<number> {
    const { logs, clock } = this.#parts;
    const { result } = await logs.change(
      owner,
      ({ records }) => {
        const changed = [...records.values()].filter((record) => withoutQuotes(record, sessionId) !== record);
        const removed = how === "delete" ? [...records.values()].flatMap((each) => (isFrom(each, sessionId) ? [each.id] : [])) : [];
        const gone = new Set(removed);
        const puts = changed.filter(({ id }) => !gone.has(id)).map((record) => withoutQuotes(record, sessionId));
        const entry = { kind: "detach", turn: null, puts, removed } as const;
        return { entry: puts.length + removed.length === 0 ? null : entry, result: how === "delete" ? removed.length : puts.length };
      },
      { now: clock.now() },
    );
    // Also when nothing is left to change: a call before may have been broken off here.
    await logs.redact(owner, (record) => withoutQuotes(record, sessionId));
    return result;
  }

  async erase(owner: Owner): Promise<{ readonly memories: number; readonly history_entries: number }> {
    const { logs, log, store } = this.#parts;
    return logs.alone(owner, async () => {
      await log.erase(owner);
      return store.erase(owner);
    });
  }

  async residue(owner: Owner): Promise<number> {
    return (await this.#parts.log.residue(owner)) + (await this.#parts.store.residue(owner));
  }

  async health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }> {
    const { store, projection } = this.#parts;
    const health = await store.health();
    if (health.status !== "ok") return health;
    if (await projection.mayFill()) {
      const short = await projection.shortLogs();
      return short === 0 ? health : { status: "degraded", detail: shortDetail(short) };
    }
    const detail = "Nothing of this installation lies in the store of memories: bookings ask. Run `maitred reindex --memories` to fill it.";
    return { status: "degraded", detail };
  }

  async rebuild(options: {
    readonly signal: AbortSignal;
    readonly onProgress?: (done: RebuiltMemories) => void;
  }): Promise<RebuiltMemories> {
    const { log, logs, projection, logger } = this.#parts;
    await projection.announce();
    let done: RebuiltMemories = { owners: 0, memories: 0, failed: 0 };
    for await (const owner of log.owners()) {
      options.signal.throwIfAborted();
      try {
        const memories = await logs.rebuild(owner, options.signal);
        done = { ...done, owners: done.owners + 1, memories: done.memories + memories };
      } catch (error) {
        options.signal.throwIfAborted();
        done = { ...done, owners: done.owners + 1, failed: done.failed + 1 };
        logger.warn({ err: error }, "An owner's memories could not be written anew");
      }
      options.onProgress?.(done);
    }
    return done;
  }
}

function shortDetail(owners: number): string {
  return (
    `The memory logs of ${owners} owners are shorter than what the store of memories was given from them: older copies were restored. ` +
    "What the store still holds is taken back into them when they are next used; restore the newest copies if there are any."
  );
}

function isFrom(record: MemoryRecord, sessionId: string): boolean {
  return record.source?.session_id === sessionId;
}

/** The same record where it quotes nothing of the session. */
export function withoutQuotes(record: MemoryRecord, sessionId: string): MemoryRecord {
  const { source, pending_change: change } = record;
  const quotes = source !== null && source.session_id === sessionId && source.quote !== "";
  const asks = change?.source?.session_id === sessionId && change.source.quote !== "";
  if (!quotes && !asks) return record;
  return {
    ...record,
    source: quotes ? { ...source, quote: "" } : source,
    pending_change: asks && change.source ? { ...change, source: { ...change.source, quote: "" } } : change,
  };
}

const OFF_RECORD = "The message that it quotes asks not to be kept.";

interface FromFileParts extends Pick<AdministrationParts, "checkProposed" | "asksNotToKeep"> {
  readonly categories: readonly Category[];
}

/**
 * What becomes of a memory that comes in a file. Its quote must bear out its text, as that of a reading must; else it is what a statement
 * by hand would be, without a source, and waits for the guest's word where it must hold or tells how to act. A secret is refused, and
 * what its message asks not to keep. What waits or is past stays so. A text: why it was refused.
 */
async function admittedFromFile(
  owner: Owner,
  { said, ...memory }: RestorableMemory,
  { checkProposed, asksNotToKeep, categories }: FromFileParts,
): Promise<MemoryRecord | string> {
  const record = withoutSecrets(recordOf(memory));
  if (record === null) return HOLDS_SECRET;
  if (asksNotToKeep(owner, said?.text ?? record.source?.quote ?? "")) return OFF_RECORD;
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
    if (dropped.secret !== undefined) return HOLDS_SECRET;
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

/** Without a change that holds a secret; null where the record itself does. */
export function withoutSecrets(record: MemoryRecord): MemoryRecord | null {
  if (holdsSecret(wordsToStore(record)) || holdsSecret(record.source?.quote ?? "")) return null;
  const { pending_change: change } = record;
  const words = `${change?.statement ? wordsToStore(change.statement) : ""} | ${change?.source?.quote ?? ""}`;
  return change !== null && holdsSecret(words) ? { ...record, pending_change: null } : record;
}
