import { type Owner, parseOwner } from "../domain/owner.js";

/** A thing that some tenants have of their own: theirs by their names, and the one of everybody else. */
export class ByTenant<T> {
  readonly rest: T;
  readonly #own: ReadonlyMap<string, T>;

  constructor(rest: T, own: ReadonlyMap<string, T> = new Map()) {
    this.rest = rest;
    this.#own = own;
  }

  of(owner: Owner): T {
    if (this.#own.size === 0) return this.rest;
    return this.#own.get(parseOwner(owner).tenant) ?? this.rest;
  }

  /** Everybody's first. */
  get all(): readonly T[] {
    return [this.rest, ...this.#own.values()];
  }

  /** The same for what follows from each: made once for each, in turn, everybody's first. */
  async map<U>(make: (value: T) => U | Promise<U>): Promise<ByTenant<U>> {
    const rest = await make(this.rest);
    const own = new Map<string, U>();
    for (const [tenant, value] of this.#own) own.set(tenant, await make(value));
    return new ByTenant(rest, own);
  }
}
