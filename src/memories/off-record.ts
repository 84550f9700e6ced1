import type { Memory } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { MemoryLog, MemoryLogEntry } from "../ports/memory-log.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { ProposedChange } from "./proposed-change.js";
import { takenBack } from "./taken-back.js";

/** What the guest asked not to keep. A need that may be hard is not dropped in silence for it: it waits for the guest's word. */

/** Of a message that is itself off the record: only what may be hard, waiting. */
export function waitingOffRecord(changes: readonly ProposedChange[]): ProposedChange[] {
  return changes.flatMap((change) =>
    change.op === "add" && change.statement?.strength === "hard" ? [{ ...change, waits: change.waits ?? "off_record" }] : [],
  );
}

/** Takes out what messages alone gave. Safe to repeat. Returns the hard ones, which wait. */
export async function takeOffRecord(
  { logs, log }: { readonly logs: OwnerLogs; readonly log: Pick<MemoryLog, "read"> },
  owner: Owner,
  messageIds: readonly string[],
  { now }: { readonly now: Date },
): Promise<readonly Memory[]> {
  const { result } = await logs.change(
    owner,
    async (memories) => {
      const entries: MemoryLogEntry[] = [];
      for await (const entry of log.read(owner)) if (entry.seq <= memories.seq) entries.push(entry);
      const back = takenBack(memories.records, entries, new Set(messageIds), now);
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
  return result;
}

function offRecord(record: MemoryRecord, now: Date): MemoryRecord {
  return { ...record, status: "review", reason: "off_record", asked: 0, updated_at: now.toISOString() };
}
