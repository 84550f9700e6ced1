import { performance } from "node:perf_hooks";
import { parseConfig } from "../src/compose/config.js";
import { openEmbedder } from "../src/compose/embedders.js";
import { silentLogger } from "../src/platform/logger.js";
import { openLocalQdrant } from "../src/vectors/local/local-qdrant.js";
import { type Found, readGuests, scoreOf } from "./semantic/score.js";

/**
 * How well each embedder finds what a question needs among a guest's thirty memories, where they share hardly a word: any and all of what
 * is needed within the first five; and what unrelated questions find, which should be nothing.
 *
 * `npm run eval:semantic -- [file=bench/semantic/guests.jsonl] [embedders=hashing,static,minilm]`; an embedder is a value of EMBEDDING_PROVIDER,
 * set up by the other variables of the environment.
 */
const [file = new URL("semantic/guests.jsonl", import.meta.url), names = "hashing,static,minilm"] = process.argv.slice(2);
const guests = await readGuests(file);
const of = ({ any, all, questions }: Found) => `${any.toFixed(2)} / ${all.toFixed(2)} of ${questions}`;
console.log("embedder      any@5 / all@5 English   other languages       English, if relevant   unrelated  ready ms  ms a text");
for (const name of names.split(",")) {
  const store = await openLocalQdrant({ path: ":memory:", cacheBytes: 2 ** 20 });
  const closers = [() => store.close()];
  const begin = performance.now();
  const { embedder, load } = await openEmbedder(
    parseConfig({ ...process.env, EMBEDDING_PROVIDER: name }),
    { memory: store, history: null },
    {
      tokens: { add: () => {} },
      logger: silentLogger,
      reembed: false,
      closing: (value, close) => {
        closers.unshift(async () => void (await close(value)));
        return value;
      },
    },
  );
  await load();
  await embedder.embed(["ready"]);
  const ready = performance.now() - begin;
  const { english, others, relevant, unrelated } = await scoreOf(embedder, guests);
  const took = await timesOf((text) => embedder.embed([text], { kind: "query" }));
  const cells = [name.padEnd(13), of(english).padEnd(23), of(others).padEnd(21), of(relevant).padEnd(22), String(unrelated).padEnd(10)];
  console.log([...cells, ready.toFixed(0).padEnd(9), took.toFixed(1)].join(" "));
  for (const close of closers) await close();
}

/** The median, one after the other, of texts that were not embedded before. */
async function timesOf(embed: (text: string) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (const [at, { q }] of guests.flatMap(({ questions }) => questions).entries()) {
    const begin = performance.now();
    await embed(`${q} ${at}`);
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
}
