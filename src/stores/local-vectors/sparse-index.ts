export interface KeptSparse {
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}

type Vectors = ReadonlyMap<string, KeptSparse>;

interface Postings {
  readonly slots: number[];
  readonly weights: number[];
}

/** Sums by slot, which slots have one, and those in the order in which they came. */
interface Scratch {
  readonly scores: Float64Array;
  readonly isTouched: Uint8Array;
  readonly touched: Uint32Array;
}

/** So many points are looked through in less time than postings take to be made. */
const FEW_SLOTS = 128;
/** Rough sizes of JavaScript's own overhead, in bytes. */
const BYTES_PER_VECTOR = 500;
const BYTES_PER_WEIGHT = 8;
const BYTES_PER_POSTING = 20;
const BYTES_PER_TERM = 160;
const BYTES_PER_SUM = 13;

/**
 * The sparse vectors of a partition's points, by name. Those of few points lie as they came, in a tenth of the room that postings take:
 * most users have few, and of many users it adds up. A slot that was removed may still be told by {@link each} where they are many.
 */
export class SparseIndex {
  #few: (Vectors | undefined)[] = [];
  /** Null while they are few. */
  #postings: Map<string, Map<number, Postings>> | null = null;
  #scratch = scratchOf(0);
  #bytes = 0;

  /** Estimate of the memory taken, in bytes. */
  get bytes(): number {
    return this.#bytes + this.#scratch.scores.length * BYTES_PER_SUM;
  }

  add(slot: number, vectors: Vectors): void {
    if (this.#postings !== null) this.#post(this.#postings, slot, vectors);
    else if (slot < FEW_SLOTS) this.#keep(slot, vectors);
    else this.#becomeMany(slot, vectors);
  }

  remove(slot: number): void {
    if (this.#postings === null) this.#few[slot] = undefined;
  }

  /** Tells each slot, of so many, that shares an index with `query`, with the dot product. */
  each(name: string, query: KeptSparse, slots: number, tell: (slot: number, score: number) => void): void {
    if (this.#postings === null) this.#eachOfFew(name, query, tell);
    else this.#eachOfMany(this.#postings.get(name), query, slots, tell);
  }

  #eachOfFew(name: string, { indices, values }: KeptSparse, tell: (slot: number, score: number) => void): void {
    const weights = new Map<number, number>();
    for (let i = 0; i < indices.length; i++) weights.set(indices[i] as number, values[i] as number);
    for (const [slot, vectors] of this.#few.entries()) {
      const vector = vectors?.get(name);
      if (vector === undefined) continue;
      let score: number | null = null;
      for (let i = 0; i < vector.indices.length; i++) {
        const weight = weights.get(vector.indices[i] as number);
        if (weight !== undefined) score = (score ?? 0) + weight * (vector.values[i] as number);
      }
      if (score !== null) tell(slot, score);
    }
  }

  #eachOfMany(
    postings: ReadonlyMap<number, Postings> | undefined,
    query: KeptSparse,
    slotCount: number,
    tell: (slot: number, score: number) => void,
  ): void {
    if (postings === undefined) return;
    const { scores, isTouched, touched } = this.#scratchFor(slotCount);
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
    for (let i = 0; i < count; i++) {
      const slot = touched[i] as number;
      const score = scores[slot] as number;
      scores[slot] = 0;
      isTouched[slot] = 0;
      tell(slot, score);
    }
  }

  /** Zeros for so many slots; whoever takes them leaves them so. Made once: for a long history they are hundreds of KB. */
  #scratchFor(slots: number): Scratch {
    if (this.#scratch.scores.length < slots) this.#scratch = scratchOf(slots * 2);
    return this.#scratch;
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
      this.#bytes += indices.length * BYTES_PER_POSTING;
      for (let i = 0; i < indices.length; i++) {
        const index = indices[i] ?? 0;
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
