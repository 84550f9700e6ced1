import type { NewRecord } from "../../src/domain/session.js";
import type { FileSystem, OpenFile } from "../../src/platform/file-system.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { LongTermMemory } from "../../src/ports/memories.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import type { MemoryStore } from "../../src/ports/memory-store.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import type { VectorStore } from "../../src/ports/vectors.js";
import type { StateEngine } from "../../src/state/engine.js";
import { type AppendKind, die, type FaultPoints } from "./fault-points.js";

/** The ports with a fault point before and after each call that changes something. Everything else passes. */

/** What the ports below that keep state come down to. */
export function pointedEngine(points: FaultPoints, engine: StateEngine): StateEngine {
  return over(engine, { commit: (...args) => points.around("engine.commit", () => engine.commit(...args)) });
}

export function pointedSessions(points: FaultPoints, { journal, index, turns, locks, images, close }: SessionStore): SessionStore {
  return {
    journal: over(journal, {
      create: (...args) => points.around("journal.create", () => journal.create(...args)),
      append: (...args) => points.around(`journal.append.${kindOf(args[2])}`, () => journal.append(...args)),
      rewrite: (...args) => points.around("journal.rewrite", () => journal.rewrite(...args)),
      erase: (owner) => points.around("journal.erase", () => journal.erase(owner)),
    }),
    index: over(index, {
      apply: (...args) => {
        const kind = args[2].some(({ type }) => type === "session") ? "session" : kindOf(args[2]);
        return points.around(`index.apply.${kind}`, () => index.apply(...args));
      },
      remove: (...args) => points.around("index.remove", () => index.remove(...args)),
      erase: (owner) => points.around("index.erase", () => index.erase(owner)),
    }),
    turns,
    locks,
    images,
    close,
  };
}

export function pointedLongTerm(points: FaultPoints, longTerm: LongTermMemory): LongTermMemory {
  return over(longTerm, {
    remember: (...args) => points.around("longTerm.remember", () => longTerm.remember(...args)),
    forget: (...args) => points.around("longTerm.forget", () => longTerm.forget(...args)),
    detachSession: (...args) => points.around("longTerm.detachSession", () => longTerm.detachSession(...args)),
    erase: (owner) => points.around("longTerm.erase", () => longTerm.erase(owner)),
  });
}

export function pointedMemoryLog(points: FaultPoints, log: MemoryLog): MemoryLog {
  return over(log, { append: (...args) => points.around("memoryLog.append", () => log.append(...args)) });
}

export function pointedMemoryStore(points: FaultPoints, store: MemoryStore): MemoryStore {
  return over(store, { project: (...args) => points.around("memoryStore.project", () => store.project(...args)) });
}

export function pointedHistory(points: FaultPoints, history: ConversationHistory): ConversationHistory {
  return over(history, {
    addEvents: (...args) => points.around("history.addEvents", () => history.addEvents(...args)),
    removeMessages: (...args) => points.around("history.removeMessages", () => history.removeMessages(...args)),
    removeSession: (...args) => points.around("history.removeSession", () => history.removeSession(...args)),
    erase: (owner) => points.around("history.erase", () => history.erase(owner)),
  });
}

export function pointedVectors(points: FaultPoints, store: VectorStore): VectorStore {
  const { client } = store;
  const of = (collection: string) => (collection === "history" ? "history" : "memory");
  return over(store, {
    client: over(client, {
      upsert: (...args) => points.around(`vectors.upsert.${of(args[0])}`, () => client.upsert(...args)),
      setPayload: (...args) => points.around("vectors.setPayload", () => client.setPayload(...args)),
      delete: (...args) => points.around(`vectors.delete.${of(args[0])}`, () => client.delete(...args)),
    }),
  });
}

export function pointedDisk(points: FaultPoints, disk: FileSystem): FileSystem {
  const pointed = (file: OpenFile): OpenFile =>
    over(file, {
      write: async (data, position) => {
        if (points.halfway("disk.write:half")) {
          await file.write(data.subarray(0, data.byteLength >> 1), position);
          die();
        }
        return points.around("disk.write", () => file.write(data, position));
      },
      datasync: () => points.around("disk.datasync", () => file.datasync()),
    });
  return over(disk, {
    open: async (path, mode) => pointed(await disk.open(path, mode)),
    rename: (...args) => points.around("disk.rename", () => disk.rename(...args)),
    unlink: (path) => points.around("disk.unlink", () => disk.unlink(path)),
    syncDirectory: (path) => points.around("disk.syncDirectory", () => disk.syncDirectory(path)),
  });
}

function kindOf(records: readonly Pick<NewRecord, "type" | "body">[]): AppendKind {
  const types = new Set(records.map(({ type }) => type));
  if (types.has("write_back_done")) return "done";
  if (types.has("summary")) return "summary";
  if (types.has("rewind")) return "edit";
  const message = records.find(({ type }) => type === "message");
  if (message === undefined) return "patch";
  return "role" in message.body && message.body.role === "assistant" ? "answer" : "message";
}

/** The port with some of its calls replaced; the others keep their object. */
export function over<T extends object>(port: T, replaced: Partial<T>): T {
  return new Proxy(port, {
    get(target, name) {
      const own = Reflect.get(replaced, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
