import { forGood } from "./browser-store.js";

/** A short list that this browser keeps under a name, newest first. Where it keeps nothing, or something else stands there, it is empty. */
export function keptList(name, most) {
  return {
    all() {
      try {
        const kept = JSON.parse(forGood.get(name) ?? "[]");
        return Array.isArray(kept) ? kept : [];
      } catch {
        return [];
      }
    },
    /** Puts one in front; those for which `same` is true leave. What no room is left for is let go. */
    put(item, same = () => false) {
      const others = this.all().filter((each) => !same(each));
      forGood.set(name, JSON.stringify([item, ...others].slice(0, most)));
    },
  };
}
