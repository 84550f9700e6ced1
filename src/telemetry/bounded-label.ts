const LONGEST = 128;

/** Values of a label, the first so many; any other is `other`: each value is a series that is kept as long as the process. */
export class BoundedLabel {
  readonly #most: number;
  readonly #values = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#values.has(value)) return value;
    if (value.length > LONGEST || this.#values.size >= this.#most) return "other";
    this.#values.add(value);
    return value;
  }
}
