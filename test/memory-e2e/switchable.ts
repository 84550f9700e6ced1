import type { LongTermMemory } from "../../src/ports/memories.js";
import { type VectorClient, type VectorStore, VectorStoreError } from "../../src/ports/vectors.js";

/** Faults of the store that a test turns on and off. */
export interface Switch {
  readonly around: { readonly vectors: (store: VectorStore) => VectorStore; readonly longTerm: (memory: LongTermMemory) => LongTermMemory };
  /** Every call to the store fails, as when the server is gone. */
  cut(): void;
  /** Recall finds nothing in time; all else works. */
  blindRecall(): void;
  heal(): void;
  /** Calls that met the fault. */
  readonly failed: number;
}

export function switchable(): Switch {
  const state = { cut: false, blind: false, failed: 0 };
  return {
    around: {
      vectors: (store) => ({
        location: store.location,
        withSignal: (signal, work) => store.withSignal(signal, work),
        health: async () => (state.cut ? { status: "down" } : store.health()),
        close: () => store.close(),
        client: new Proxy(store.client, {
          get: (client, name: keyof VectorClient) => async (collection: string, args: never) => {
            if (state.cut) {
              state.failed += 1;
              throw new VectorStoreError(0, "the connection is gone");
            }
            return (client[name] as (collection: string, args: never) => unknown).call(client, collection, args);
          },
        }),
      }),
      longTerm: (memory) =>
        new Proxy(memory, {
          get(target, name) {
            if (name === "recall" && state.blind) return async () => ({ status: "timeout", memories: [] });
            const value: unknown = Reflect.get(target, name);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
    },
    cut: () => {
      state.cut = true;
    },
    blindRecall: () => {
      state.blind = true;
    },
    heal: () => {
      state.cut = false;
      state.blind = false;
    },
    get failed() {
      return state.failed;
    },
  };
}
