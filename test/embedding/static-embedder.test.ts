import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { VectorTable } from "../../packages/minilm/src/vector-table.js";
import { WordTable } from "../../packages/minilm/src/word-table.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../../src/embedding/sentence-embedder.js";
import { cosine, describeEmbedderContract } from "../contract/embedder.contract.js";

const TABLE = new URL("../../packages/minilm/model/table.bin", import.meta.url);
const grams = new HashingEmbedder({ dimension: 128 });
const embedder = new SentenceEmbedder(new WordTable(), grams);

async function vectorOf(text: string): Promise<Float32Array> {
  return (await embedder.embed([text]))[0] ?? new Float32Array();
}

/** A copy of the table with something done to it. */
async function changed(change: (file: Buffer) => Buffer): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-table-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const path = join(dir, "table.bin");
  await writeFile(path, change(await readFile(TABLE)));
  return path;
}

describeEmbedderContract("SentenceEmbedder, WordTable", async () => ({ embedder }));

describe("the table of the package", () => {
  test("compares meanings: what shares no word is near, what has to do with nothing is not", async () => {
    const [question, answer, stranger] = await embedder.embed([
      "Is there somewhere my puppy may sleep?",
      "Travels with a small dog",
      "Collects stamps of the Baltic states",
    ]);
    if (!question || !answer || !stranger) throw new Error("three texts, three vectors");
    expect(cosine(question, answer)).toBeGreaterThan(cosine(question, stranger) + 0.1);
    expect(cosine(question, answer)).toBeGreaterThan(embedder.relevantFrom(question));
  });

  test("a text's vector is the sum of its pieces' rows, of length 1, whatever their order", async () => {
    const table = await VectorTable.open(TABLE.pathname);
    const sum = new Float32Array(table.dimension);
    // "[CLS]", "quiet", "room", "[SEP]" in the vocabulary.
    for (const row of [101, 4251, 2282, 102]) table.addTo(sum, row);
    const vector = await vectorOf("Quiet room");
    for (const [i, value] of sum.entries()) expect(vector[i]).toBeCloseTo(value / Math.hypot(...sum), 5);
    expect(vector.slice(table.dimension).every((value) => value === 0)).toBe(true);
    expect(cosine(vector, await vectorOf("room, quiet"))).toBeGreaterThan(0.9);
  });

  test.each(["zzzz", "what time is it", "What time is it?", "Hello!", "thank you"])("%j asks for nothing", async (text) => {
    expect(embedder.relevantFrom(await vectorOf(text))).toBe(Number.POSITIVE_INFINITY);
  });

  test.each(["What time does the spa close?", "a quiet room, please", "Is breakfast included?"])("%j asks for something", async (text) => {
    expect(embedder.relevantFrom(await vectorOf(text))).toBeLessThan(0.4);
  });

  test("words in scripts that it can't read are compared by their letters", async () => {
    const [asked, same, other] = await embedder.embed(["люблю джаз", "Любит джаз и блюз", "Нужен номер без ступенек"]);
    if (!asked || !same || !other) throw new Error("three texts, three vectors");
    expect(cosine(asked, same)).toBeGreaterThan(cosine(asked, other) + 0.15);
  });

  test("a name that is no word of the vocabulary is found by its pieces", async () => {
    const [asked, same, other] = await embedder.embed([
      "When does Kowalczyk arrive?",
      "Her partner is Kowalczyk",
      "Her partner is Bergström",
    ]);
    if (!asked || !same || !other) throw new Error("three texts, three vectors");
    expect(cosine(asked, same)).toBeGreaterThan(cosine(asked, other) + 0.1);
  });

  test("a long text is known by its beginning, so its length costs no more than that", async () => {
    const beginning = "A quiet room away from the lift. ".repeat(70);
    const [long, longer] = await embedder.embed([`${beginning}${"x ".repeat(5_000)}`, `${beginning}${"jazz ".repeat(400_000)}`]);
    expect([...(long ?? [])]).toEqual([...(longer ?? [])]);
  });
});

describe("a table that can't be used", () => {
  test.each([
    ["is no table", () => Buffer.from("no table of vectors")],
    ["is empty", () => Buffer.alloc(0)],
    ["was cut short", (file: Buffer) => file.subarray(0, -1)],
    ["has one bit that is another", (file: Buffer) => Buffer.from(file.map((byte, at) => (at === 5_000 ? byte ^ 1 : byte)))],
  ])("since it %s is told to who asks, and what to do", async (_, change) => {
    const broken = new SentenceEmbedder(new WordTable(await changed(change)), grams);
    expect(broken.problem).toBeNull();
    await broken.load();
    await expect(broken.embed(["anything"])).rejects.toMatchObject({ code: "EMBEDDING_UNAVAILABLE" });
    expect(broken.problem).toContain("EMBEDDING_PROVIDER=hashing");
  });

  test("is read again once it is whole", async () => {
    const path = await changed((file) => file.subarray(0, 1_000));
    const mended = new SentenceEmbedder(new WordTable(path), grams);
    await mended.load();
    expect(mended.problem).not.toBeNull();
    await writeFile(path, await readFile(TABLE));
    await expect(mended.embed(["anything"])).resolves.toHaveLength(1);
    expect(mended.problem).toBeNull();
  });
});
