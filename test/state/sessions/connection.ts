import { AppError } from "../../../src/platform/errors.js";
import type { StateEngine } from "../../../src/state/engine.js";

/** What one process of several sees of an engine, until it is killed, or while it is out of reach. */
export function connectionTo(engine: StateEngine): { readonly engine: StateEngine; kill(): void; cut(isOut: boolean): void } {
  let isDead = false;
  let isOut = false;
  const alive = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (isDead) throw new Error("killed");
      if (isOut) throw new AppError("STORAGE_UNAVAILABLE");
      return call(...args);
    };
  };
  return {
    engine: {
      manifest: { ...engine.manifest, shared: true },
      read: alive((...args) => engine.read(...args)),
      commit: alive((...args) => engine.commit(...args)),
      partitions: alive((...args) => engine.partitions(...args)),
      due: alive((...args) => engine.due(...args)),
      erase: alive((...args) => engine.erase(...args)),
      health: () => engine.health(),
      close: async () => {},
    },
    kill: () => {
      isDead = true;
    },
    cut: (out) => {
      isOut = out;
    },
  };
}
