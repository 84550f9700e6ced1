/** A point that was found; `key` identifies it. */
export interface Ranked {
  readonly key: string;
  readonly score: number;
}

/** Qdrant's constant; the formula (Cormack, Clarke & Büttcher 2009) is often used with 60 instead. */
export const RRF_K = 2;

/** Reciprocal rank fusion: a point's score is the sum of 1/(2 + rank) over the lists that hold it, ranks from 0. */
export function reciprocalRankFusion(lists: readonly (readonly Ranked[])[]): Ranked[] {
  const totals = new Map<string, number>();
  for (const list of lists) for (const [rank, { key }] of list.entries()) totals.set(key, (totals.get(key) ?? 0) + 1 / (RRF_K + rank));
  return [...totals].map(([key, score]) => ({ key, score })).sort(better);
}

/** Best first; equal scores in id order, so that answers are stable. */
export function better(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** Keeps the best `size` of the offers it is made. */
export class TopK {
  readonly #size: number;
  /** Best first. */
  readonly #kept: Ranked[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Could an offer with this score be kept? Asked before anything else is looked at: of a long history's points most could not. */
  mayTake(score: number): boolean {
    const worst = this.#kept.at(-1);
    return this.#kept.length < this.#size || (worst !== undefined && score >= worst.score);
  }

  /** Would this offer be kept, of many that are as good as the worst? As {@link better} has it, without making an entry. */
  wants(score: number, key: string): boolean {
    const worst = this.#kept.at(-1);
    if (this.#kept.length < this.#size || worst === undefined) return this.#size > 0;
    return score > worst.score || (score === worst.score && key < worst.key);
  }

  offer(key: string, score: number): void {
    if (!this.wants(score, key)) return;
    const entry = { key, score };
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (better(this.#kept[middle] as Ranked, entry) < 0) low = middle + 1;
      else high = middle;
    }
    this.#kept.splice(low, 0, entry);
    if (this.#kept.length > this.#size) this.#kept.pop();
  }

  /** Best first. */
  sorted(): Ranked[] {
    return this.#kept;
  }
}
