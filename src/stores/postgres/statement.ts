/** A statement of several parts, the first of which decides. */
export class Statement {
  readonly values: unknown[] = [];
  readonly #parts: string[] = [];
  readonly #checks: string[] = [];

  parameter(value: unknown, cast: string): string {
    this.values.push(value);
    return `$${this.values.length}::${cast}`;
  }

  part(name: string, sql: string): void {
    this.#parts.push(`${name} AS (${sql})`);
  }

  /** Evaluated where the write happens. */
  check(sql: string): void {
    this.#checks.push(sql);
  }

  toString(): string {
    return `WITH ${this.#parts.join(",\n")}\nSELECT ${["1", ...this.#checks].join(", ")} FROM head`;
  }
}
