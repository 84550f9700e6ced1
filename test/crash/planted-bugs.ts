import type { NewRecord } from "../../src/domain/session.js";
import type { FileSystem } from "../../src/platform/file-system.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import type { MemoryStore } from "../../src/ports/memory-store.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import type { PlantedBug } from "./job.js";
import { over } from "./pointed-ports.js";

/** A defect that a careless change could bring in, put around the ports. The checks of the crash tests must find each. */
export interface Defect {
  disk(disk: FileSystem): FileSystem;
  sessions(sessions: SessionStore): SessionStore;
  memoryLog(log: MemoryLog): MemoryLog;
  memoryStore(store: MemoryStore): MemoryStore;
}

const NONE: Defect = {
  disk: (disk) => disk,
  sessions: (sessions) => sessions,
  memoryLog: (log) => log,
  memoryStore: (store) => store,
};

export function defectOf(bug: PlantedBug | null): Defect {
  if (bug === "no-sync") return { ...NONE, disk: withoutSync };
  if (bug === "log-after-store") return logAfterStore();
  return bug === "done-before-read-back" ? doneBeforeReadBack() : NONE;
}

/** What was never synced counts as durable. */
function withoutSync(disk: FileSystem): FileSystem {
  return over(disk, {
    open: async (path, mode) => over(await disk.open(path, mode), { datasync: async () => undefined }),
  });
}

/** Says that memories are stored, and begins to write them, to log and store, when that is in the journal. */
function doneBeforeReadBack(): Defect {
  const waiting: (() => Promise<unknown>)[] = [];
  const write = async () => {
    for (const each of waiting.splice(0)) await each();
  };
  return {
    ...NONE,
    memoryLog: (log) =>
      over(log, {
        append: async (owner, entry, options) => {
          waiting.push(() => log.append(owner, entry, options));
          return { v: 1, seq: options.expectedSeq + 1, at: options.now.toISOString(), ...entry };
        },
      }),
    memoryStore: (store) =>
      over(store, {
        project: async (owner, projected, options) => {
          waiting.push(() => store.project(owner, projected, options));
        },
      }),
    sessions: (sessions) =>
      withAppend(sessions, async (append, records) => {
        const written = await append(records);
        if (isDone(records)) void write();
        return written;
      }),
  };
}

/** Writes the store before what it follows from is durable in the log. */
function logAfterStore(): Defect {
  const unlogged = new Map<string, () => Promise<unknown>>();
  return {
    ...NONE,
    memoryLog: (log) =>
      over(log, {
        append: async (owner, entry, options) => {
          unlogged.set(owner, () => log.append(owner, entry, options));
          return { v: 1, seq: options.expectedSeq + 1, at: options.now.toISOString(), ...entry };
        },
      }),
    memoryStore: (store) =>
      over(store, {
        project: async (owner, projected, options) => {
          await store.project(owner, projected, options);
          await unlogged.get(owner)?.();
          unlogged.delete(owner);
        },
      }),
  };
}

type Written = ReturnType<SessionStore["journal"]["append"]>;

function withAppend(
  { journal, index, turns, locks, images, close }: SessionStore,
  changed: (append: (records: readonly NewRecord[]) => Written, records: readonly NewRecord[]) => Written,
): SessionStore {
  const append: SessionStore["journal"]["append"] = (owner, sessionId, records, options) =>
    changed((given) => journal.append(owner, sessionId, given, options), records);
  return { journal: over(journal, { append }), index, turns, locks, images, close };
}

function isDone(records: readonly NewRecord[]): boolean {
  return records.some(({ type }) => type === "write_back_done");
}
