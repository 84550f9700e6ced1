import { type VectorClient, VectorStoreError } from "../../ports/vectors.js";
import { METHODS } from "./local-engine.js";
import type { LocalVectorStore } from "./local-vector-store.js";

/** What is wrong with the file, and what to do. */
export function damageOf(path: string): string {
  return `${path} is damaged. Restore it from a backup, or move it away: history is then rebuilt from the journals.`;
}

/**
 * Stands for a local store whose file is damaged. Every call fails, so that nobody takes "can't be looked at" for "nothing is there":
 * a constraint that can't be read is no constraint that isn't there. The file is left as it is.
 */
export function unreadableStore(path: string): LocalVectorStore {
  const detail = damageOf(path);
  const fail = async () => {
    throw new VectorStoreError(503, detail);
  };
  return {
    client: Object.fromEntries(METHODS.map((method) => [method, fail])) as unknown as VectorClient,
    location: `${path} (damaged)`,
    withSignal: (_signal, work) => work(),
    health: async () => ({ status: "down", detail }),
    scrub: fail,
    close: async () => {},
  };
}
