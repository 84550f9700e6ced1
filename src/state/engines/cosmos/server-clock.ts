/** A server's clock, by the `Date` of its answers, which is whole seconds: this machine's own, where that does not contradict them. */
export class ServerClock {
  /** Of the server's clock before the process's own, in milliseconds. */
  #earliest = Number.NEGATIVE_INFINITY;
  #latest = Number.POSITIVE_INFINITY;

  /** An answer to what was asked at `askedMs`, by `performance.now()`. */
  observe(date: unknown, askedMs: number): void {
    const second = typeof date === "string" ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(second)) return;
    const [earliest, latest] = [second - performance.now(), second + 1_000 - askedMs];
    this.#earliest = Math.max(this.#earliest, earliest);
    this.#latest = Math.min(this.#latest, latest);
    // One that was set anew counts from now on.
    if (this.#earliest > this.#latest) [this.#earliest, this.#latest] = [earliest, latest];
  }

  nowMs(): number {
    const own = Date.now() - performance.now();
    return performance.now() + Math.min(Math.max(own, this.#earliest), this.#latest);
  }
}
