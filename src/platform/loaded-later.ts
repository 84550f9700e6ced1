import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const waiting = new Set<() => unknown>();

/**
 * A package that takes long to load (a tenth of a second and more), loaded at its first use, or by {@link loadWaiting}: a start and the
 * commands that never use it don't wait for it. `name`: as it would be imported; its CommonJS form is taken. `use`: what it is used for
 * once by {@link loadWaiting}, where its first use takes longer than others. Default: nothing.
 */
export function loadedLater<T>(name: string, use: (loaded: T) => unknown = () => {}): () => T {
  let loaded: T | undefined;
  const load = (): T => {
    waiting.delete(ready);
    loaded ??= require(name) as T;
    return loaded;
  };
  const ready = () => use(load());
  waiting.add(ready);
  return load;
}

/** Loads what was put off, so that the first message doesn't: when a server listens, before a conversation begins. */
export function loadWaiting(): void {
  for (const ready of waiting) ready();
}

/** What is loaded when it is first asked for, and again after a failure. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
