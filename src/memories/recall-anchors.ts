import type { RecallTable } from "../domain/recall-table.js";
import { cosine } from "../platform/numbers.js";
import type { Embedder } from "../ports/embedding.js";
import type { MeantOccasions } from "./recall-decision.js";

/** Cosines of a message to an anchor from which it is sure, and likely, to mean the same. */
const SURE_FROM = 0.55;
const LIKELY_FROM = 0.32;
/** Where none is likely: from which it is taken for what it is nearest to, rather than for anything. */
const POSSIBLE_FROM = 0.26;
/** To what no memory has a part in a message is as near as this, and nearer than to anything else by as much. */
const ELSEWHERE_FROM = 0.38;
const ELSEWHERE_BEFORE = 0.1;
/** From here on a message that is nearest to idle talk is idle. */
const IDLE_FROM = 0.38;
/** Occasions whose nearest anchors are so little further than the nearest of all are meant as well. */
const BESIDE = 0.06;
/** After the anchors could not be embedded, before it is tried again. */
const AGAIN_AFTER_MS = 60_000;
/** Anchors asked for together: what a reply waits for stands behind so many at most, also where the embedder takes texts in order. */
const AT_ONCE = 8;

/** What no memory has a part in, and what asks for nothing: names that no occasion has. */
const ELSEWHERE = Symbol("elsewhere");
const IDLE = Symbol("idle");

interface Anchor {
  readonly occasion: string | typeof ELSEWHERE | typeof IDLE;
  readonly text: string;
}

/** Tells by the anchors of a domain's table what a message means. They are embedded once, behind what anybody waits for. */
export class RecallAnchors {
  readonly #anchors: readonly Anchor[];
  readonly #embedder: Embedder;
  #vectors: readonly Float32Array[] | null = null;
  #loading: Promise<void> | null = null;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(table: RecallTable, embedder: Embedder) {
    const all = [...Object.entries(table.occasions), [ELSEWHERE, table.elsewhere] as const, [IDLE, table.idle] as const];
    this.#anchors = all.flatMap(([occasion, { anchors = {} }]) =>
      Object.values(anchors).flatMap((texts) => texts.map((text) => ({ occasion, text }))),
    );
    this.#embedder = embedder;
  }

  /** Null until the anchors are embedded, which the first call begins. */
  meaningOf(vector: readonly number[]): MeantOccasions | null {
    const vectors = this.#vectors;
    if (vectors === null) {
      if (performance.now() - this.#failedAt > AGAIN_AFTER_MS) void this.load();
      return null;
    }
    const nearest = new Map<Anchor["occasion"], number>();
    for (const [at, { occasion }] of this.#anchors.entries())
      nearest.set(occasion, Math.max(nearest.get(occasion) ?? -1, cosine(vector, vectors[at] ?? new Float32Array())));
    const all = [...nearest].sort(([, a], [, b]) => b - a);
    const ranked = all.filter(([occasion]) => occasion !== IDLE);
    const best = ranked[0]?.[1] ?? -1;
    const within = (from: number) =>
      ranked.flatMap(([occasion, near]) => (typeof occasion === "string" && near >= from && near >= best - BESIDE ? [occasion] : []));
    const ofOccasions = ranked.filter(([occasion]) => typeof occasion === "string");
    return {
      sure: within(SURE_FROM),
      likely: within((ofOccasions[0]?.[1] ?? -1) >= LIKELY_FROM ? LIKELY_FROM : POSSIBLE_FROM),
      elsewhere: ranked[0]?.[0] === ELSEWHERE && best >= ELSEWHERE_FROM && best - (ranked[1]?.[1] ?? -1) >= ELSEWHERE_BEFORE,
      idle: all[0]?.[0] === IDLE && all[0][1] >= IDLE_FROM,
    };
  }

  /** Resolves when they are embedded, or can't be. */
  load(): Promise<void> {
    this.#loading ??= this.#embed().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #embed(): Promise<void> {
    const texts = this.#anchors.map(({ text }) => text);
    const vectors: Float32Array[] = [];
    try {
      for (let at = 0; at < texts.length; at += AT_ONCE)
        vectors.push(...(await this.#embedder.embed(texts.slice(at, at + AT_ONCE), { background: true })));
      this.#vectors = vectors;
    } catch {
      this.#failedAt = performance.now();
    }
  }
}
