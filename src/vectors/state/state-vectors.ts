import { isAppError } from "../../platform/errors.js";
import { type VectorStore, VectorStoreError } from "../../ports/vectors.js";
import type { StateEngine } from "../../state/engine.js";
import { PointCalls } from "../in-memory/point-calls.js";
import { answeredCalls, waitedFor } from "../requests/answered-calls.js";
import { StateKeeper } from "./state-keeper.js";

export interface StateVectorsOptions {
  /** Of every call, in milliseconds. */
  readonly timeoutMs: number;
  /** Bound of the points kept in memory for searching, in bytes. */
  readonly cacheBytes: number;
}

/**
 * Vectors in the engine of state, whichever that is, with what else is an owner's; the engine stays the caller's. Searches are answered
 * from memory, exactly, for the owner whom they name: IDF is that of the owner's own points. Aborting `withSignal`'s signal rejects with
 * ABORTED at once; what was begun by then may still be done. Other failures are VectorStoreErrors; status 0: no answer.
 */
export function stateVectors(engine: StateEngine, { timeoutMs, cacheBytes }: StateVectorsOptions): VectorStore {
  const { name } = engine.manifest;
  const calls = new PointCalls(new StateKeeper(engine, cacheBytes), (error) => error instanceof VectorStoreError && error.status === 404);
  let closed = false;
  return {
    ...answeredCalls(async (method, collection, args, signal) => {
      if (closed) throw new VectorStoreError(503, "The store of vectors is closed.");
      return waitedFor(calls.call(method, collection, args), { server: name, what: method, timeoutMs }, signal, (cause) =>
        isAppError(cause, "STORAGE_UNAVAILABLE") ? new VectorStoreError(503, cause.message, { cause }) : cause,
      );
    }),
    location: name,
    health: () => engine.health(),
    close: async () => {
      closed = true;
    },
  };
}
