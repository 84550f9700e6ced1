import { setMaxListeners } from "node:events";
import { AsyncValue } from "../../platform/async-value.js";
import { boundedSignal } from "../../platform/bounded-signal.js";
import { AppError } from "../../platform/errors.js";
import type { VectorClient, VectorStore } from "../../ports/vectors.js";
import { METHODS, type Method } from "./requests.js";

/** The calls of a store that answers them by itself. `call` is not made where its signal has aborted already: that is ABORTED. */
export function answeredCalls(
  call: (method: Method, collection: string, args: unknown, signal: AbortSignal | undefined) => Promise<unknown>,
): Pick<VectorStore, "client" | "withSignal"> {
  const signals = new AsyncValue<AbortSignal>();
  const unlessAborted = async (method: Method, collection: string, args: unknown) => {
    const signal = signals.get();
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    return call(method, collection, args, signal);
  };
  return {
    client: Object.fromEntries(
      METHODS.map((method) => [method, (collection: string, args: unknown) => unlessAborted(method, collection, args)]),
    ) as unknown as VectorClient,
    withSignal: (signal, work) => {
      const outer = signals.get();
      const both = outer === undefined || outer === signal ? null : boundedSignal([outer, signal]);
      const bound = both?.signal ?? signal;
      // Calls that are made side by side listen to one signal; that is no leak.
      setMaxListeners(0, bound);
      const result = signals.run(bound, work);
      return both === null ? result : result.finally(() => both.end());
    },
  };
}
