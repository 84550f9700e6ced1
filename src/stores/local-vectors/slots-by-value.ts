/** Keys with fewer values than this tell little of where a point lies: `status` has four. */
const FEW_VALUES = 8;

/** Where the points of a partition lie, by what their payloads hold under one key: a text, or several. */
export class SlotsByValue {
  readonly #slots = new Map<string, Set<number>>();

  add(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text);
      if (slots === undefined) this.#slots.set(text, new Set([slot]));
      else slots.add(slot);
    }
  }

  /** `value`: as it was added. */
  remove(slot: number, value: unknown): void {
    for (const text of textsOf(value)) {
      const slots = this.#slots.get(text);
      slots?.delete(slot);
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
