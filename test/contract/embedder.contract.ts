import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { Embedder } from "../../src/ports/embedding.js";

export interface EmbedderUnderTest {
  readonly embedder: Embedder;
  close?(): Promise<void>;
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    dot += (a[i] ?? 0) * (b[i] ?? 0);
    aa += (a[i] ?? 0) ** 2;
    bb += (b[i] ?? 0) ** 2;
  }
  return dot / Math.sqrt(aa * bb);
}

/** What every embedder promises, whatever makes its vectors. */
export function describeEmbedderContract(name: string, make: () => Promise<EmbedderUnderTest>): void {
  describe(`embedder contract: ${name}`, () => {
    async function withEmbedder(run: (embedder: Embedder) => Promise<void>): Promise<void> {
      const made = await make();
      try {
        await run(made.embedder);
      } finally {
        await made.close?.();
      }
    }

    test("every vector has the dimension that is announced, and length above zero", () =>
      withEmbedder(async (embedder) => {
        for (const vector of await embedder.embed(["two tickets for jazz", "", "🎷", "!?", "爵士音乐会", "a".repeat(8_000)])) {
          expect(vector).toBeInstanceOf(Float32Array);
          expect(vector.length).toBe(embedder.dimension);
          expect(vector.every(Number.isFinite)).toBe(true);
          expect(Math.hypot(...vector)).toBeGreaterThan(0);
        }
      }));

    test("vectors come in the order of the texts, also across batches", () =>
      withEmbedder(async (embedder) => {
        const texts = Array.from({ length: 150 }, (_, i) => `text number ${i} about subject ${i * 7}`);
        const together = await embedder.embed(texts);
        expect(together).toHaveLength(150);
        for (const i of [0, 63, 64, 149]) {
          const [alone] = await embedder.embed([texts[i] ?? ""]);
          expect(cosine(together[i] ?? new Float32Array(), alone ?? new Float32Array())).toBeGreaterThan(0.9999);
        }
      }));

    test("the same text has the same vector, another text another one", () =>
      withEmbedder(async (embedder) => {
        const [a, b, c] = await embedder.embed(["front row seats", "front row seats", "gluten-free dinner"]);
        if (!a || !b || !c) throw new Error("three texts, three vectors");
        expect(Array.from(a)).toEqual(Array.from(b));
        expect(cosine(a, c)).toBeLessThan(0.99);
      }));

    test("[query-first] a query is answered before somebody else's batch ends", () =>
      withEmbedder(async (embedder) => {
        const done: string[] = [];
        const giveUp = new AbortController();
        const batch = Array.from({ length: 500 }, (_, i) => `text number ${i} about subject ${i * 7}`);
        const written = embedder.embed(batch, { kind: "document", signal: giveUp.signal }).then(() => done.push("batch"));
        await embedder.embed(["what a reply waits for"], { kind: "query" }).then(() => done.push("query"));
        giveUp.abort();
        await written.catch(() => {});
        expect(done[0]).toBe("query");
      }));

    test("no texts, no vectors", () => withEmbedder(async (embedder) => expect(await embedder.embed([])).toEqual([])));

    test("an aborted signal ends the call with ABORTED", () =>
      withEmbedder(async (embedder) => {
        const error = await embedder.embed(["late"], { signal: AbortSignal.abort() }).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(AppError);
        expect((error as AppError).code).toBe("ABORTED");
      }));

    test("the id tells the dimension apart", () =>
      withEmbedder(async (embedder) => expect(embedder.id).toContain(String(embedder.dimension))));
  });
}
