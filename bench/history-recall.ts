import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { MiniLm, WordTable } from "@maitred/minilm";
import { HashingEmbedder } from "../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../src/embedding/sentence-embedder.js";
import type { Embedder } from "../src/ports/embedding.js";
import type { ConversationHistory } from "../src/ports/history.js";
import { quantile } from "./quantile.js";
import { SIGNALS, type Signal, without } from "./recall/ablation.js";
import { plainBm25 } from "./recall/bm25.js";
import { crossValidate } from "./recall/cross-validation.js";
import { type Conversation, readDataset } from "./recall/dataset.js";
import { type Fixture, openFixture, ownerOfConversation } from "./recall/fixture.js";
import { count, fractionAt, HEADER, newTally, row, type Tally } from "./recall/metrics.js";
import { measureAtScale } from "./recall/scale.js";

/**
 * Recall of history search: imports every conversation of `--data` for a user of its own, asks its questions, and looks for the evidence.
 *
 *   npm run bench:recall -- --data FILE [--cross-validate] [--quick] [--embedder minilm|static|hashing|FILE]
 *   npm run bench:recall -- --scale          query times at 3,000 turns among 300,000; takes minutes and about 2 GB of disk
 *
 * Without `--embedder`: the model of the package, the table of the package, then words alone. FILE: a module whose default export is an embedder. `--quick` leaves
 * the ablation out. `--scale` takes vectors of the default's length, made of letters, as if they were a model's: what embedding the
 * question takes comes on top. With `--embedder hashing` it searches by words alone.
 */
const { values: options } = parseArgs({
  options: {
    data: { type: "string" },
    embedder: { type: "string" },
    "cross-validate": { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    scale: { type: "boolean", default: false },
  },
});

/** Bytes of vectors in memory: all conversations; with other users, what a server has by default. */
const ALL_OF_IT = 2 * 1024 ** 3;
const CACHE_OF_A_SERVER = 256 * 1024 ** 2;

type Search = (conversation: Conversation, question: string) => Promise<string[]> | string[];

const report = (line: string) => console.info(line);
if (options.data === undefined && !options.scale) throw new Error("Say --data FILE or --scale.");
if (options.data !== undefined) {
  const conversations = await readDataset(options.data);
  for (const name of options.embedder === undefined ? ["minilm", "static", "hashing"] : [options.embedder])
    await withFixture(await embedderOf(name), (fixture, embedder) => measureRecall(fixture, embedder, conversations));
}
if (options.scale)
  await withFixture(likeAModel(options.embedder === "hashing"), (fixture) => measureAtScale(fixture, report), CACHE_OF_A_SERVER);

async function withFixture(
  embedder: Embedder & { close?(): Promise<void> },
  measure: (fixture: Fixture, embedder: Embedder) => Promise<void>,
  cacheBytes = ALL_OF_IT,
): Promise<void> {
  const fixture = await openFixture(embedder, cacheBytes);
  try {
    await measure(fixture, embedder);
  } finally {
    await fixture.close();
    await embedder.close?.();
  }
}

async function embedderOf(name: string): Promise<Embedder> {
  if (name === "minilm") return new SentenceEmbedder(new MiniLm(), new HashingEmbedder({ dimension: 128 }));
  if (name === "static") return new SentenceEmbedder(new WordTable(), new HashingEmbedder({ dimension: 128 }));
  if (name === "hashing") return new HashingEmbedder({ dimension: 768 });
  return ((await import(pathToFileURL(resolve(name)).href)) as { default: Embedder }).default;
}

function likeAModel(lexical: boolean): Embedder {
  const letters = new HashingEmbedder({ dimension: new MiniLm().dimension + 128 });
  return { id: "letters", dimension: letters.dimension, lexical, embed: (texts) => letters.embed(texts) };
}

async function measureRecall(fixture: Fixture, embedder: Embedder, conversations: readonly Conversation[]): Promise<void> {
  const messages = conversations.reduce((sum, conversation) => sum + conversation.messages.length, 0);
  const questions = conversations.reduce((sum, conversation) => sum + conversation.questions.length, 0);
  const started = performance.now();
  for (const conversation of conversations) await fixture.import(ownerOfConversation(conversation), conversation);
  report(`${conversations.length} conversations, ${messages} messages, ${questions} questions; embedder ${embedder.id}`);
  report(
    `imported in ${((performance.now() - started) / 1000).toFixed(1)} s; index ${((await fixture.indexBytes()) / 1024 ** 2).toFixed(1)} MiB\n\nTurn level\n${HEADER}`,
  );
  const baselines = new Map(conversations.map((conversation) => [conversation, plainBm25(conversation)]));
  await line("plain BM25 (FTS5, porter)", conversations, (conversation, question) => baselines.get(conversation)?.(question) ?? []);
  await line(`dense alone (${embedder.lexical ? "lexical stand-in" : "embedder"})`, conversations, (conversation, question) =>
    fixture.denseAlone(ownerOfConversation(conversation), question),
  );
  if (!options.quick) await ablation(fixture, conversations);
  const everything = await line("everything", conversations, searchOf(fixture.history));

  report(`\nBy category, everything, turn level\n${HEADER}`);
  for (const [category, tally] of [...everything.byCategory].sort()) report(row(`category ${category} (${tally.questions})`, tally));

  report(`\nSession level\n${HEADER}`);
  const sessions = new Map(
    conversations.map((conversation) => [conversation, new Map(conversation.messages.map(({ id, session }) => [id, session]))]),
  );
  const bySession =
    (search: Search): Search =>
    async (conversation, question) => [
      ...new Set((await search(conversation, question)).map((id) => sessions.get(conversation)?.get(id) ?? id)),
    ];
  const evidenceOf = (conversation: Conversation, evidence: readonly string[]) =>
    evidence.map((id) => sessions.get(conversation)?.get(id) ?? id);
  await line(
    "plain BM25, best message",
    conversations,
    bySession((c, q) => baselines.get(c)?.(q) ?? []),
    evidenceOf,
  );
  await line("everything, best message", conversations, bySession(searchOf(fixture.history)), evidenceOf);

  await latency(fixture, conversations);
  if (options["cross-validate"]) await crossValidate(fixture, conversations, report);
  report(`\nfraction @10, turn level, everything: ${fractionAt(everything.all, 10).toFixed(4)}`);
}

/** Each signal added to the ones before it, then everything without each. */
async function ablation(fixture: Fixture, conversations: readonly Conversation[]): Promise<void> {
  const signals = Object.keys(SIGNALS) as Signal[];
  for (let on = 0; on < signals.length; on++) {
    const label = on === 0 ? "own words alone, re-scored" : `+ ${signals[on - 1]}`;
    await line(label, conversations, searchOf(await fixture.withWeights(without(signals.slice(on)))));
  }
  for (const signal of signals)
    await line(`everything but ${signal}`, conversations, searchOf(await fixture.withWeights(without([signal]))));
}

function searchOf(history: ConversationHistory): Search {
  return async (conversation, query) =>
    (await history.search(ownerOfConversation(conversation), { query, limit: 200 })).map(({ message_id }) => message_id);
}

async function line(
  label: string,
  conversations: readonly Conversation[],
  search: Search,
  evidenceOf: (conversation: Conversation, evidence: readonly string[]) => readonly string[] = (_, evidence) => evidence,
): Promise<{ all: Tally; byCategory: Map<string, Tally> }> {
  const all = newTally();
  const byCategory = new Map<string, Tally>();
  for (const conversation of conversations)
    for (const { question, evidence, category } of conversation.questions) {
      const found = await search(conversation, question);
      const wanted = evidenceOf(conversation, evidence);
      count(all, found, wanted);
      const tally = byCategory.get(category) ?? newTally();
      byCategory.set(category, tally);
      count(tally, found, wanted);
    }
  report(row(label, all));
  return { all, byCategory };
}

async function latency(fixture: Fixture, conversations: readonly Conversation[]): Promise<void> {
  const times: number[] = [];
  for (const conversation of conversations)
    for (const { question } of conversation.questions) {
      const start = performance.now();
      await fixture.history.search(ownerOfConversation(conversation), { query: question });
      times.push(performance.now() - start);
    }
  report(`\nquery: p50 ${quantile(times, 0.5).toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms (limit 20)`);
}
