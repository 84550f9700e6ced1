import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../web/problems.js";
import { useAnswer } from "../web/use-answer.js";
import type { Page } from "./client.js";
import { refusalOf } from "./session.js";

/** How often what is shown is asked for again, in milliseconds, where somebody looks. */
export const LIVE_MS = 10_000;

export interface Loaded<T> {
  /** What came last; null before anything did. */
  readonly value: T | null;
  /** Of the last try. */
  readonly failure: Problem | null;
  reload(): void;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

/** What a screen shows, asked for when `key` changes, and every `everyMs` while the page is seen. */
export function useLoaded<T>(key: unknown, load: Load<T>, everyMs?: number): Loaded<T> {
  const refused = (error: unknown) => {
    throw refusalOf(error);
  };
  const { value, failure, isCurrent, reload } = useAnswer([key], (signal) => load(signal).catch(refused), everyMs);
  return { value: isCurrent ? value : null, failure: isCurrent ? (failure as Problem | null) : null, reload };
}

/** Pages that are held at most: those that were scrolled past are let go. */
const MAX_PAGES = 8;

export interface Pages<T> {
  readonly rows: readonly T[];
  /** Whether the first page has been answered. */
  readonly ready: boolean;
  readonly failure: Problem | null;
  readonly hasMore: boolean;
  /** Whether the newest are no longer held. */
  readonly pastFirst: boolean;
  readonly loading: boolean;
  more(): void;
  /** From the first page on. */
  restart(): void;
  /** What failed, once more. */
  again(): void;
}

/** Pages without anything in them that are passed at once: a server may look through much that doesn't fit. */
const MAX_EMPTY_PAGES = 10;

/** The next page that has something in it; an empty one where that takes too long, or nothing comes any more. */
async function nextFilled<T>(load: LoadPage<T>, cursor: string | null, signal: AbortSignal): Promise<Page<T>> {
  let page = await load(cursor, signal);
  for (let passed = 1; passed < MAX_EMPTY_PAGES && page.data.length === 0 && page.next_cursor !== null; passed++)
    page = await load(page.next_cursor, signal);
  return page;
}

/** The pages after the first one, and how the last of them is doing. */
type Later<T> = Pick<Pages<T>, "pastFirst" | "loading" | "failure"> & { readonly key: string; readonly pages: readonly Page<T>[] };

type LoadPage<T> = (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>;

/**
 * A list of which some pages are held, however long it is. While nothing but the first page is there, it is asked for again as
 * {@link useLoaded} does.
 */
export function usePages<T>(key: string, load: LoadPage<T>, everyMs?: number): Pages<T> {
  const fresh: Later<T> = { key, pages: [], pastFirst: false, loading: false, failure: null };
  const [later, setLater] = useState(fresh);
  const abort = useRef(new AbortController());
  const held = later.key === key ? later : fresh;
  const { pastFirst, loading, failure } = held;
  const first = useLoaded(key, (signal) => nextFilled(load, null, signal), held.pages.length === 0 ? everyMs : undefined);
  // Another key is another list.
  useEffect(() => {
    abort.current = new AbortController();
    return () => abort.current.abort();
  }, [key]);

  const pages = pastFirst || first.value === null ? held.pages : [first.value, ...held.pages];
  const next = pages.at(-1)?.next_cursor ?? null;
  const more = () => {
    if (next === null || loading) return;
    const { signal } = abort.current;
    const put = (change: Partial<Later<T>>) => void (signal.aborted || setLater({ ...held, ...change }));
    put({ loading: true });
    nextFilled(load, next, signal).then(
      (page) => {
        const all = [...held.pages, page];
        put({ pages: all.slice(-MAX_PAGES), pastFirst: pastFirst || all.length >= MAX_PAGES, loading: false, failure: null });
      },
      (error: unknown) => put({ loading: false, failure: refusalOf(error) }),
    );
  };
  const restart = () => {
    abort.current.abort();
    abort.current = new AbortController();
    setLater(fresh);
    first.reload();
  };
  return {
    rows: pages.flatMap(({ data }) => data),
    ready: first.value !== null || pastFirst,
    failure: failure ?? first.failure,
    hasMore: next !== null,
    pastFirst,
    loading,
    more,
    restart,
    again: failure === null ? first.reload : more,
  };
}
