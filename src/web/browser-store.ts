/** What this browser keeps of the page, for good or for this tab. Where it may keep nothing, the page goes on without it. */

function over(storageOf: () => Storage) {
  const tried = <T>(work: (storage: Storage) => T): T | null => {
    try {
      return work(storageOf());
    } catch {
      // Forbidden by the guest, or full.
      return null;
    }
  };
  return {
    get: (name: string): string | null => tried((storage) => storage.getItem(name)),
    set: (name: string, text: string): void => void tried((storage) => storage.setItem(name, text)),
    remove: (name: string): void => void tried((storage) => storage.removeItem(name)),
  };
}

export const forGood = over(() => localStorage);
export const forThisTab = over(() => sessionStorage);

/** A short list that is kept for good under a name, newest first. Where something else stands there, it is empty. */
export function keptList<T>(name: string, most: number) {
  const all = (): readonly T[] => {
    try {
      const kept: unknown = JSON.parse(forGood.get(name) ?? "[]");
      return Array.isArray(kept) ? kept : [];
    } catch {
      return [];
    }
  };
  return {
    all,
    /** Puts one in front; those for which `same` is true leave. What no room is left for is let go. */
    put(item: T, same: (each: T) => boolean = () => false): void {
      forGood.set(name, JSON.stringify([item, ...all().filter((each) => !same(each))].slice(0, most)));
    },
  };
}
