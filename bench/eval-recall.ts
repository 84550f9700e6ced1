import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MiniLm } from "@maitred/minilm";
import { CONCIERGE_CATEGORIES } from "../packages/concierge/src/categories.js";
import { STATED_NEEDS } from "../packages/concierge/src/need-check.js";
import { CONCIERGE_RECALL } from "../packages/concierge/src/recall-table.js";
import { CachedEmbedder } from "../src/embedding/cached-embedder.js";
import { HashingEmbedder } from "../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../src/embedding/sentence-embedder.js";
import { RecallByOccasion } from "../src/memories/memories.js";
import type { Embedder } from "../src/ports/embedding.js";
import { openLocalQdrant } from "../src/vectors/local/local-qdrant.js";
import { openMem0 } from "../test/support/mem0.js";
import { type OccasionScore, readOccasionGuests, readUnrelated, scoreOfOccasions } from "./recall/occasions.js";

/**
 * Which memories a message is given: of what it needs, and of what it has no use for; then the same where each guest has a hundred unrelated
 * memories besides, and where the hundred are of the same categories, for other places and of other people. `--before`: as for a
 * domain without a table; `--notes`: what was missed and what was noise.
 *
 * `npm run eval:recall -- [file=bench/recall/guests.jsonl] [embedders=hashing,minilm] [--before] [--notes]`
 */
const NOW = new Date("2026-05-04T10:00:00.000Z");
const options = process.argv.slice(2).filter((each) => each.startsWith("--"));
const [file = new URL("recall/guests.jsonl", import.meta.url), names = "hashing,minilm"] = process.argv
  .slice(2)
  .filter((each) => !each.startsWith("--"));
const guests = await readOccasionGuests(file);
const hundreds = {
  "and 100": await readUnrelated(new URL("recall/unrelated.json", import.meta.url)),
  "and elsewhere": await readUnrelated(new URL("recall/elsewhere.json", import.meta.url)),
};
const made: Readonly<Record<string, () => { readonly embedder: Embedder; readonly close: () => Promise<void> }>> = {
  hashing: () => ({ embedder: new HashingEmbedder({ dimension: 768 }), close: async () => {} }),
  minilm: () => {
    const embedder = new SentenceEmbedder(new MiniLm(), new HashingEmbedder({ dimension: 128 }));
    return { embedder: new CachedEmbedder(embedder), close: () => embedder.close() };
  },
};

console.log("embedder               must   hard   precision  with own needs  idle   a message  p95 ms");
for (const name of names.split(",")) {
  const make = made[name];
  if (make === undefined) throw new Error(`Embedders are ${Object.keys(made).join(", ")}.`);
  const { embedder, close } = make();
  const recall = new RecallByOccasion({ table: CONCIERGE_RECALL, categoriesOf: () => CONCIERGE_CATEGORIES, needs: STATED_NEEDS, embedder });
  await recall.load();
  const dir = await mkdtemp(join(tmpdir(), "maitred-recall-"));
  const store = await openLocalQdrant({ path: ":memory:", cacheBytes: 2 ** 20 });
  const { memory } = await openMem0({
    dir,
    store,
    clock: { now: () => NOW },
    embedder,
    ...(!options.includes("--before") && { recall }),
  });
  const alone = await scoreOfOccasions(memory, guests, { unrelated: [], now: NOW, tenant: "alone" });
  line(name, alone);
  const notes = [...alone.notes];
  for (const [at, [which, unrelated]] of Object.entries(hundreds).entries()) {
    const beside = await scoreOfOccasions(memory, guests, { unrelated, now: NOW, tenant: `beside-${at}` });
    line(`${name}, ${which}`, beside);
    notes.push("----", ...beside.notes);
  }
  if (options.includes("--notes")) for (const note of notes) console.log(`    ${note}`);
  await memory.close();
  await store.close();
  await close();
  await rm(dir, { recursive: true });
}

function line(name: string, { must, hard, precision, harmless, idle, given, p95 }: OccasionScore): void {
  const cells = [must.toFixed(2).padEnd(6), hard.toFixed(2).padEnd(6), precision.toFixed(2).padEnd(10), harmless.toFixed(2).padEnd(15)];
  console.log(`${name.padEnd(22)} ${[...cells, idle.toFixed(2).padEnd(6), given.toFixed(1).padEnd(10), p95.toFixed(1)].join(" ")}`);
}
