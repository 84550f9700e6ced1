import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

interface Answered<T> {
  /** What came last; null before anything did. */
  readonly value: T | null;
  /** Of the last try. */
  readonly failure: unknown;
  /** Whether it is about the keys as they are now. */
  readonly isCurrent: boolean;
  reload(): void;
}

/**
 * What is asked for once, again when one of `keys` changes, and every `everyMs` while the page is seen. An answer that is late for its keys
 * is thrown away.
 */
export function useAnswer<T>(keys: readonly unknown[], ask: (signal: AbortSignal) => Promise<T>, everyMs?: number): Answered<T> {
  const key = useMemo(() => ({}), keys);
  const state = useSignal<{ readonly key: object; readonly value: T | null; readonly failure: unknown }>({
    key,
    value: null,
    failure: null,
  });
  const round = useSignal(0);
  const reload = () => {
    round.value += 1;
  };
  // Another round asks again.
  useEffect(() => {
    const abort = new AbortController();
    const put = (answered: typeof state.value) => {
      if (!abort.signal.aborted) state.value = answered;
    };
    ask(abort.signal).then(
      (value) => put({ key, value, failure: null }),
      (failure: unknown) => put({ key, value: state.value.key === key ? state.value.value : null, failure }),
    );
    return () => abort.abort();
  }, [key, round.value]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  const { value, failure } = state.value;
  return { value, failure, isCurrent: state.value.key === key, reload };
}
