import { better, type Ranked } from "./fusion.js";

/** Keeps the best `size` of the offers it is made, in a binary heap whose top is the worst kept one. */
export class Best {
  readonly #size: number;
  readonly #heap: Ranked[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Could an offer with this score be kept? Asked before anything else is looked at: of a long history's points most could not. */
  mayTake(score: number): boolean {
    const worst = this.#heap[0];
    return this.#heap.length < this.#size || (worst !== undefined && score >= worst.score);
  }

  /** Would this offer be kept, of many that are as good as the worst? As {@link better} has it, without making an entry. */
  wants(score: number, key: string): boolean {
    const worst = this.#heap[0];
    if (this.#heap.length < this.#size || worst === undefined) return this.#size > 0;
    return score > worst.score || (score === worst.score && key < worst.key);
  }

  offer(key: string, score: number): void {
    const entry = { key, score };
    if (this.#heap.length < this.#size) {
      this.#heap.push(entry);
      this.#rise(this.#heap.length - 1);
      return;
    }
    const worst = this.#heap[0];
    if (worst === undefined || better(entry, worst) >= 0) return;
    this.#heap[0] = entry;
    this.#sink();
  }

  /** Best first. */
  sorted(): Ranked[] {
    return [...this.#heap].sort(better);
  }

  #rise(start: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfWorse(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let worst = left;
      const l = this.#heap[left];
      const r = this.#heap[right];
      if (l === undefined) return;
      if (r !== undefined && better(l, r) < 0) worst = right;
      if (!this.#swapIfWorse(worst, at)) return;
      at = worst;
    }
  }

  /** The worse one moves up. True: they were swapped. */
  #swapIfWorse(child: number, parent: number): boolean {
    const c = this.#heap[child];
    const p = this.#heap[parent];
    if (c === undefined || p === undefined || better(c, p) <= 0) return false;
    this.#heap[child] = p;
    this.#heap[parent] = c;
    return true;
  }
}
