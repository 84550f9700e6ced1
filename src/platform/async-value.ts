import { AsyncLocalStorage } from "node:async_hooks";

interface Link {
  readonly of: object;
  readonly value: unknown;
  readonly outer: Link | undefined;
}

/**
 * One for all values of the process: before Node 24 each storage that was ever used is written onto every promise that is made, a few
 * thousand a turn, and the first costs much less than the second.
 */
const links = new AsyncLocalStorage<Link>();

/** A value that what runs within {@link run} finds again, across whatever it awaits, and nobody else. */
export class AsyncValue<T> {
  /** Undefined outside of {@link run}. */
  get(): T | undefined {
    for (let link = links.getStore(); link !== undefined; link = link.outer) if (link.of === this) return link.value as T;
    return undefined;
  }

  run<R>(value: T, work: () => R): R {
    return links.run({ of: this, value, outer: links.getStore() }, work);
  }
}
