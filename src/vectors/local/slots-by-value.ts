/** Keys with fewer values than this tell little of where a point lies: `status` has four. */
const FEW_VALUES = 8;

/** Rough sizes in bytes: of a slot in a set, and of a value with its set. The value's text is the payload's own. */
const BYTES_PER_SLOT = 32;
const BYTES_PER_VALUE = 320;

/** Where the points of a partition lie, by what their payloads hold under one key: a text, or several. */
export class SlotsByValue {
  readonly #slots = new Map<string, Set<number>>();
  #held = 0;

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    return this.#slots.size * BYTES_PER_VALUE + this.#held * BYTES_PER_SLOT;
  }

  add(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text) ?? new Set();
      if (slots.has(slot)) continue;
      this.#slots.set(text, slots.add(slot));
      this.#held += 1;
    }
  }

  /** `value`: as it was added. */
  remove(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text);
      if (slots?.delete(slot)) this.#held -= 1;
      if (slots?.size === 0) this.#slots.delete(text);
    }
  }

  /** Each slot once, in no order; null where there are too few values for that to be worth it. */
  of(values: ReadonlySet<string>): readonly number[] | null {
    if (this.#slots.size < FEW_VALUES) return null;
    return [...new Set([...values].flatMap((value) => [...(this.#slots.get(value) ?? [])]))];
  }
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
