import type { LongTermMemory, MemoryOperation } from "../../src/long-term.js";
import type { FileSystem } from "../../src/platform/file-system.js";
import type { NewRecord } from "../../src/session.js";
import type { SessionStore } from "../../src/session-store.js";
import type { PlantedBug } from "./job.js";
import { over } from "./pointed-ports.js";

/** A defect that a careless change could bring in, put around the ports. The checks of the crash tests must find each. */
export interface Defect {
  disk(disk: FileSystem): FileSystem;
  sessions(sessions: SessionStore): SessionStore;
  longTerm(longTerm: LongTermMemory): LongTermMemory;
}

const NONE: Defect = { disk: (disk) => disk, sessions: (sessions) => sessions, longTerm: (longTerm) => longTerm };

export function defectOf(bug: PlantedBug | null): Defect {
  if (bug === "no-sync") return { ...NONE, disk: withoutSync };
  if (bug === "plan-after-store") return { ...NONE, sessions: planAfterStore };
  return bug === "done-before-read-back" ? doneBeforeReadBack() : NONE;
}

/** What was never synced counts as durable. */
function withoutSync(disk: FileSystem): FileSystem {
  return over(disk, {
    open: async (path, mode) => over(await disk.open(path, mode), { datasync: async () => undefined }),
  });
}

/** Says that memories are stored, and begins to write them when that is in the journal. */
function doneBeforeReadBack(): Defect {
  const waiting: (() => Promise<unknown>)[] = [];
  return {
    ...NONE,
    longTerm: (longTerm) =>
      over(longTerm, {
        apply: async (owner, operations, { now }) => {
          waiting.push(() => longTerm.apply(owner, operations, { now }));
          return { stored: operations.map(idOf), confirmed: [], superseded: [], forgotten: [], dropped: 0 };
        },
      }),
    sessions: (sessions) =>
      withAppend(sessions, async (append, records) => {
        const written = await append(records);
        if (isDone(records)) for (const apply of waiting.splice(0)) void apply();
        return written;
      }),
  };
}

/** Keeps the plan to itself until the stores have been written. */
function planAfterStore(sessions: SessionStore): SessionStore {
  const plans = new Map<string, readonly NewRecord[]>();
  return withAppend(sessions, async (append, records, sessionId) => {
    if (records.some(({ type }) => type === "write_back_plan")) {
      plans.set(sessionId, records);
      return [];
    }
    const plan = isDone(records) ? (plans.get(sessionId) ?? []) : [];
    if (plan.length > 0) plans.delete(sessionId);
    return append([...plan, ...records]);
  });
}

type Written = ReturnType<SessionStore["journal"]["append"]>;

function withAppend(
  { journal, index, locks, close }: SessionStore,
  changed: (append: (records: readonly NewRecord[]) => Written, records: readonly NewRecord[], sessionId: string) => Written,
): SessionStore {
  const append: SessionStore["journal"]["append"] = (owner, sessionId, records, options) =>
    changed((given) => journal.append(owner, sessionId, given, options), records, sessionId);
  return { journal: over(journal, { append }), index, locks, close };
}

function isDone(records: readonly NewRecord[]): boolean {
  return records.some(({ type }) => type === "write_back_done");
}

function idOf(operation: MemoryOperation): string {
  return "memory_id" in operation ? operation.memory_id : operation.target_id;
}
