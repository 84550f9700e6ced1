import { setMaxListeners } from "node:events";
import { AsyncValue } from "../../platform/async-value.js";
import { boundedSignal, orAbort } from "../../platform/bounded-signal.js";
import { AppError } from "../../platform/errors.js";
import { type VectorClient, type VectorStore, VectorStoreError } from "../../ports/vectors.js";
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

/**
 * What a call gives, waited for no longer than its signal and the time (milliseconds) let it; it may go on all the same.
 * @throws ABORTED; VectorStoreError with status 0 where it is late; what `failureOf` makes of what it throws
 */
export async function waitedFor<T>(
  call: Promise<T>,
  { server, what, timeoutMs }: { readonly server: string; readonly what: string; readonly timeoutMs: number },
  signal: AbortSignal | undefined,
  failureOf: (cause: unknown) => unknown,
): Promise<T> {
  const bound = boundedSignal([signal], timeoutMs);
  try {
    return await orAbort(call, bound.signal);
  } catch (cause) {
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    if (bound.late) throw new VectorStoreError(0, `${server} gave no answer to ${what} within ${timeoutMs} ms.`, { cause });
    throw failureOf(cause);
  } finally {
    bound.end();
  }
}
