import type { ChildEvent } from "./job.js";

/** Kills further away from the start than this, in starts. */
const SPAN = 2.5;

/** When and how things go wrong: random, from a seed, and scaled by how fast this machine is. */
export class Moments {
  #state: number;
  /** How long the last start took, in milliseconds. */
  #startMs = 200;

  constructor(seed: number) {
    this.#state = seed * 0x9e3779b1;
  }

  /** 0 to below 1 (mulberry32). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  integer(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** Kills a child at a moment between the beginning of its start and some way into the talk. */
  killer(): (event: ChildEvent, kill: () => void) => void {
    const after = this.#next() * SPAN;
    return (event, kill) => {
      if (event.event === "opening") setTimeout(kill, after * this.#startMs);
      if (event.event === "open") this.#startMs = event.ms;
    };
  }
}
