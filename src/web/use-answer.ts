import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

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
  const [state, setState] = useState<{ readonly key: object; readonly value: T | null; readonly failure: unknown }>({
    key,
    value: null,
    failure: null,
  });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  // Another round asks again.
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    ask(signal).then(
      (value) => signal.aborted || setState({ key, value, failure: null }),
      (failure: unknown) => signal.aborted || setState((before) => ({ key, value: before.key === key ? before.value : null, failure })),
    );
    return () => abort.abort();
  }, [key, round]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return { value: state.value, failure: state.failure, isCurrent: state.key === key, reload };
}
