import type { RetentionPolicy } from "../../src/domain/lifecycle.js";
import type { Memory } from "../../src/domain/memory.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JournalRecord, NewRecord, Session, Step } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { LongTermMemory } from "../../src/ports/memories.js";
import type { HistoryMessage } from "../../src/ports/resources.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { SessionService } from "../../src/sessions/sessions.js";
import { IndexedSessionWriter } from "../../src/state/jsonl/session-writer.js";
import { TurnRegistry } from "../../src/turn/turn-registry.js";
import { InMemoryOwnerLedger, memorySessionStore } from "./memory-stores.js";
import { sampleMemory } from "./samples.js";

export const alice = ownerOf("default", "alice");
export const bob = ownerOf("default", "bob");

/** Hands that the test turns. Every reading is a millisecond later, so that records of one test have an order in time. */
export class TestClock {
  #ms: number;

  constructor(start = "2026-03-01T09:00:00.000Z") {
    this.#ms = Date.parse(start);
  }

  now(): Date {
    this.#ms += 1;
    return new Date(this.#ms);
  }

  days(count: number): void {
    this.seconds(count * 86_400);
  }

  seconds(count: number): void {
    this.#ms += count * 1_000;
  }
}

/** What a test does not expect to be called throws with its name. */
export function strict<T extends object>(name: string, methods: Partial<T>): T {
  return new Proxy(methods as T, {
    get: (target, key) => {
      // A promise would be taken for what it resolves to.
      if (key === "then") return undefined;
      const value = Reflect.get(target, key);
      if (value === undefined) throw new Error(`${name}.${String(key)} was not expected`);
      return value;
    },
  });
}

/** A history that keeps messages in a map, by owner. */
export function memoryHistory(): ConversationHistory & { entries(owner: Owner): HistoryMessage[] } {
  const kept = new Map<Owner, Map<string, HistoryMessage>>();
  const of = (owner: Owner) => {
    const entries = kept.get(owner) ?? new Map<string, HistoryMessage>();
    kept.set(owner, entries);
    return entries;
  };
  const removeWhere = (owner: Owner, gone: (message: HistoryMessage) => boolean) => {
    const ids = [...of(owner).values()].filter(gone).map((message) => message.message_id);
    for (const id of ids) of(owner).delete(id);
    return ids.length;
  };
  return Object.assign(
    strict<ConversationHistory>("history", {
      addEvents: async (owner, messages) => {
        const fresh = messages.filter((message) => !of(owner).has(message.message_id));
        for (const message of fresh) of(owner).set(message.message_id, message);
        return fresh.length;
      },
      removeSession: async (owner, sessionId) => removeWhere(owner, (message) => message.session_id === sessionId),
      removeMessages: async (owner, ids) => removeWhere(owner, (message) => ids.includes(message.message_id)),
      erase: async (owner) => removeWhere(owner, () => true),
      residue: async (owner) => of(owner).size,
    }),
    { entries: (owner: Owner) => [...of(owner).values()] },
  );
}

export interface MemoryDouble {
  readonly port: LongTermMemory;
  readonly kept: Map<Owner, Memory[]>;
}

/** A long-term memory that holds what the test puts in. */
export function memoryLongTerm(): MemoryDouble {
  const kept = new Map<Owner, Memory[]>();
  const of = (owner: Owner) => kept.get(owner) ?? [];
  return {
    kept,
    port: strict<LongTermMemory>("longTerm", {
      async *all(owner) {
        yield* of(owner);
      },
      history: async (_owner, id) => [{ at: "2026-03-01T09:00:00.000Z", event: "added", text: "x", memory_id: id }],
      detachSession: async (owner, sessionId, how) => {
        const touched = of(owner).filter((memory) => memory.source?.session_id === sessionId);
        const without = of(owner).filter((memory) => !touched.includes(memory));
        const unquoted = touched.map((memory) => ({ ...memory, source: memory.source && { ...memory.source, quote: "" } }));
        kept.set(owner, how === "delete" ? without : [...without, ...unquoted]);
        return touched.length;
      },
      erase: async (owner) => {
        const memories = of(owner).length;
        kept.delete(owner);
        return { memories, history_entries: memories };
      },
      residue: async (owner) => of(owner).length,
    }),
  };
}

export function memoryFrom(session: Session, text: string): Memory {
  const source = { session_id: session.id, turn: 1, message_id: "m", quote: text };
  return sampleMemory({ id: newId(), text, category: "genre", aspect: "", source });
}

export interface SayOptions {
  readonly steps?: readonly Step[];
  readonly outcome?: "completed" | "interrupted" | "failed";
  readonly remember?: boolean;
  readonly user?: Record<string, unknown>;
  readonly assistant?: Record<string, unknown>;
}

export interface World {
  readonly store: SessionStore;
  readonly writer: IndexedSessionWriter;
  readonly sessions: SessionService;
  readonly history: ReturnType<typeof memoryHistory>;
  readonly longTerm: MemoryDouble;
  readonly ledger: InMemoryOwnerLedger;
  readonly registry: TurnRegistry;
  readonly clock: TestClock;
  /** Sessions whose final summary was asked for. */
  readonly finished: string[];
  /** What the write-back was told, in order. */
  readonly writeBack: string[];
  /** One turn, as the orchestrator journals it. Returns its number. */
  say(owner: Owner, sessionId: string, user: string, assistant: string, options?: SayOptions): Promise<number>;
  records(owner: Owner, sessionId: string): Promise<JournalRecord[]>;
}

/** Sessions over the in-memory store, with strict doubles around them. */
export async function makeWorld(
  options: {
    readonly store?: SessionStore;
    readonly history?: ConversationHistory;
    readonly lockWaitMs?: number;
    readonly retention?: RetentionPolicy;
    readonly scrub?: () => Promise<void>;
  } = {},
): Promise<World> {
  const clock = new TestClock();
  const store = options.store ?? memorySessionStore({ clock });
  const writer = new IndexedSessionWriter(store, {
    onLag: () => {
      throw new Error("the index lagged");
    },
    logger: silentLogger,
  });
  const history = memoryHistory();
  const longTerm = memoryLongTerm();
  const ledger = new InMemoryOwnerLedger();
  const registry = new TurnRegistry();
  const finished: string[] = [];
  const writeBack: string[] = [];
  const sessions = new SessionService(
    {
      store,
      writer,
      history: options.history ?? history,
      longTerm: longTerm.port,
      ledger,
      gate: registry,
      // A writer that lags throws, above.
      lagging: { requireLevel: async () => {}, findIdempotent: async () => null },
      writeBack: {
        kick: () => writeBack.push("kick"),
        flush: async (_owner, id, timeoutMs) => void writeBack.push(`flush ${id} ${timeoutMs}`),
        hold: async () => {
          writeBack.push("hold");
          return () => writeBack.push("release");
        },
      },
      finalSummary: async (_owner, id) => void finished.push(id),
      agentType: "test",
      ...(options.scrub && { scrub: options.scrub }),
      clock,
      logger: silentLogger,
    },
    { lockWaitMs: options.lockWaitMs ?? 1_000, retention: () => options.retention ?? { activeDays: 0, archivedDays: 0, deletedDays: 0 } },
  );
  return {
    store,
    writer,
    sessions,
    history,
    longTerm,
    ledger,
    registry,
    clock,
    finished,
    writeBack,
    async say(owner, sessionId, user, assistant, { steps = [], outcome = "completed", remember = true, ...bodies } = {}) {
      const window = await store.journal.window(owner, sessionId, { rounds: 1 });
      const turn = window.lastTurn + 1;
      const at = () => clock.now().toISOString();
      const records: NewRecord[] = [
        { type: "message", id: newId(), turn, at: at(), body: { role: "user", content: user, remember, ...bodies.user } },
        ...steps.map((step): NewRecord => ({ type: "step", id: step.id, turn, at: at(), body: step })),
        { type: "message", id: newId(), turn, at: at(), body: { role: "assistant", content: assistant, outcome, ...bodies.assistant } },
      ];
      await writer.append(owner, sessionId, records);
      return turn;
    },
    async records(owner, sessionId) {
      const records: JournalRecord[] = [];
      for await (const record of store.journal.read(owner, sessionId)) records.push(record);
      return records;
    },
  };
}
