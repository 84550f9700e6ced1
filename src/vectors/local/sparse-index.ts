import type { KeptSparse } from "../requests/point.js";

/** So many points of a partition are looked through in less time, and lie in less room, than what finds them in many takes to be kept. */
export const FEW_POINTS = 128;

type Vectors = ReadonlyMap<string, KeptSparse>;

interface Postings {
  readonly slots: number[];
  readonly weights: number[];
}

/** The slots that share an index with a query, in no order, and their sums, by slot. It holds until the next query. */
export interface FoundSlots {
  readonly count: number;
  readonly slots: Uint32Array;
  readonly scores: Float64Array;
}

/** Sums by slot, which slots have one, and those in the order in which they came. */
interface Scratch {
  readonly scores: Float64Array;
  readonly isTouched: Uint8Array;
  readonly touched: Uint32Array;
}

/** In the place of a term: all slots that have the vector. */
const ANY_TERM = -1;

/** Rough sizes of JavaScript's own overhead, in bytes. */
const BYTES_PER_VECTOR = 500;
const BYTES_PER_WEIGHT = 8;
const BYTES_PER_POSTING = 20;
const BYTES_PER_TERM = 160;
const BYTES_PER_SUM = 13;

/**
 * The sparse vectors of a partition's points, by name. Those of few points lie as they came, in a tenth of the room that postings take:
 * most users have few, and of many users it adds up. A slot that was removed may still be found where they are many.
 */
export class SparseIndex {
  #few: (Vectors | undefined)[] = [];
  /** Null while they are few. */
  #postings: Map<string, Map<number, Postings>> | null = null;
  #scratch = scratchOf(0);
  /** Of the scratch, what the last query left in it. */
  #found = 0;
  #bytes = 0;

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    return this.#bytes + this.#scratch.scores.length * BYTES_PER_SUM;
  }

  add(slot: number, vectors: Vectors): void {
    if (this.#postings !== null) this.#post(this.#postings, slot, vectors);
    else if (slot < FEW_POINTS) this.#keep(slot, vectors);
    else this.#becomeMany(slot, vectors);
  }

  remove(slot: number): void {
    if (this.#postings === null) this.#few[slot] = undefined;
  }

  /** Those whose vector holds the term; null: that have the vector. One that was removed may be among them. */
  slotsWith(name: string, term: number | null): readonly number[] {
    if (this.#postings !== null) return this.#postings.get(name)?.get(term ?? ANY_TERM)?.slots ?? [];
    return [...this.#few.entries()].flatMap(([slot, vectors]) => {
      const vector = vectors?.get(name);
      return vector !== undefined && (term === null || vector.indices.includes(term)) ? [slot] : [];
    });
  }

  /** Slots, of so many, that share an index with `query`, with the dot product. */
  find(name: string, query: KeptSparse, slotCount: number): FoundSlots {
    const { scores, isTouched, touched } = this.#cleared(slotCount);
    if (this.#postings === null) this.#sumFew(name, query);
    else this.#sumMany(this.#postings.get(name), query);
    for (let i = 0; i < this.#found; i++) isTouched[touched[i] as number] = 0;
    return { count: this.#found, slots: touched, scores };
  }

  /** Zeros for so many slots. Made once: for a long history they are hundreds of KB. */
  #cleared(slots: number): Scratch {
    const { scores, touched } = this.#scratch;
    if (scores.length < slots) this.#scratch = scratchOf(slots * 2);
    else for (let i = 0; i < this.#found; i++) scores[touched[i] as number] = 0;
    this.#found = 0;
    return this.#scratch;
  }

  #sumFew(name: string, { indices, values }: KeptSparse): void {
    const { scores, touched } = this.#scratch;
    const weights = new Map<number, number>();
    for (let i = 0; i < indices.length; i++) weights.set(indices[i] as number, values[i] as number);
    for (const [slot, vectors] of this.#few.entries()) {
      const vector = vectors?.get(name);
      if (vector === undefined) continue;
      let isFound = false;
      for (let i = 0; i < vector.indices.length; i++) {
        const weight = weights.get(vector.indices[i] as number);
        if (weight === undefined) continue;
        isFound = true;
        scores[slot] = (scores[slot] as number) + weight * (vector.values[i] as number);
      }
      if (isFound) touched[this.#found++] = slot;
    }
  }

  #sumMany(postings: ReadonlyMap<number, Postings> | undefined, query: KeptSparse): void {
    if (postings === undefined) return;
    const { scores, isTouched, touched } = this.#scratch;
    // 0 can be a score, so what was touched is noted beside it; of a long history that is little.
    let count = 0;
    for (let i = 0; i < query.indices.length; i++) {
      const found: Postings | undefined = postings.get(query.indices[i] ?? 0);
      const weight = query.values[i] ?? 0;
      if (found === undefined) continue;
      const { slots, weights }: Postings = found;
      for (let j = 0; j < slots.length; j++) {
        const slot = slots[j] as number;
        if (isTouched[slot] === 0) {
          isTouched[slot] = 1;
          touched[count++] = slot;
        }
        scores[slot] = (scores[slot] as number) + weight * (weights[j] as number);
      }
    }
    this.#found = count;
  }

  #keep(slot: number, vectors: Vectors): void {
    this.#few[slot] = vectors;
    for (const { indices } of vectors.values()) this.#bytes += BYTES_PER_VECTOR + indices.length * BYTES_PER_WEIGHT;
  }

  #becomeMany(slot: number, vectors: Vectors): void {
    this.#postings = new Map();
    this.#bytes = 0;
    for (const [held, before] of this.#few.entries()) if (before !== undefined) this.#post(this.#postings, held, before);
    this.#few = [];
    this.#post(this.#postings, slot, vectors);
  }

  #post(postings: Map<string, Map<number, Postings>>, slot: number, vectors: Vectors): void {
    for (const [name, { indices, values }] of vectors) {
      const ofName: Map<number, Postings> = postings.get(name) ?? new Map();
      postings.set(name, ofName);
      this.#bytes += (1 + indices.length) * BYTES_PER_POSTING;
      for (let i = ANY_TERM; i < indices.length; i++) {
        const index = indices[i] ?? ANY_TERM;
        let list = ofName.get(index);
        if (list === undefined) {
          list = { slots: [], weights: [] };
          ofName.set(index, list);
          this.#bytes += BYTES_PER_TERM;
        }
        list.slots.push(slot);
        list.weights.push(values[i] ?? 0);
      }
    }
  }
}

function scratchOf(slots: number): Scratch {
  return { scores: new Float64Array(slots), isTouched: new Uint8Array(slots), touched: new Uint32Array(slots) };
}
