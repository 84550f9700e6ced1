import { MiniLm, WordTable } from "@maitred/minilm";
import { afterAll, expect, test } from "vitest";
import { featuresOf, MEANING, WORDS_OF_MESSAGE, wordsOf } from "../../packages/offline/src/learnt/sentence-features.js";
import { MeaningJudge, type SentenceJudge, sentenceJudgeFor } from "../../packages/offline/src/learnt/sentence-judge.js";
import trained from "../../packages/offline/src/learnt/sentence-weights.json" with { type: "json" };
import ofWords from "../../packages/offline/src/learnt/word-weights.json" with { type: "json" };
import { OfflineReader } from "../../packages/offline/src/offline-reader.js";
import { ownerOf } from "../../src/domain/owner.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../../src/embedding/sentence-embedder.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MessageToRead, ProposedOperation } from "../../src/ports/extraction.js";
import { sampleMemory } from "../support/samples.js";
import { standInReader } from "../support/stand-in.js";

const embedder = new SentenceEmbedder(new MiniLm(), new HashingEmbedder({ dimension: 128 }));
const judge = sentenceJudgeFor({ embedder, logger: silentLogger });

async function read(text: string, by: SentenceJudge | null = judge): Promise<readonly ProposedOperation[]> {
  const { operations } = await standInReader(by).read(messageOf(text), { signal: AbortSignal.timeout(60_000) });
  return operations;
}

function messageOf(text: string): MessageToRead {
  const at = new Date("2026-03-11T10:00:00Z");
  const said = { owner: ownerOf("default", "ann"), session_id: "s", turn: 1, message_id: "m", text, stated_at: at, time_zone: "UTC" };
  return { ...said, context: [], known: [] };
}

const SAID_BEFORE = { session_id: "s", turn: 1, message_id: "m", quote: "q" };
const brief = ({ op, text, category, strength, subject, stance }: ProposedOperation) => ({ op, text, category, strength, subject, stance });

afterAll(() => embedder.close());

test("what no rule understands is kept as it was said, where it reads like something lasting", async () => {
  const said = { op: "add", strength: "soft", subject: "self", stance: "stated" };
  const text = "Accordion music is my weakness. I like jazz.";
  const byRules = { ...said, text: "Likes jazz", category: "genre" };
  expect((await read(text, null)).map(brief)).toEqual([byRules]);
  expect((await read(text)).map(brief)).toEqual([{ ...said, text: "Accordion music is my weakness", category: "genre" }, byRules]);
  expect((await read("Noise keeps me awake, so rooms at the back are what I book.")).map(brief)).toEqual([
    { ...said, text: "Noise keeps me awake, so rooms at the back are what I book", category: "seating" },
  ]);
});

test("what ends a need is no need of its own", async () => {
  const known = [sampleMemory({ text: "Is vegan", about: "vegan", id: "known", strength: "hard", need: "vegan" })];
  const message = { ...messageOf("Actually I'm not vegan any more"), turn: 2, known };
  const { operations } = await standInReader(judge).read(message, { signal: AbortSignal.timeout(60_000) });
  expect(operations).toMatchObject([{ op: "end", target_id: "known" }]);
});

test("what is not to be written down is asked about where it names a need, and not otherwise", async () => {
  const asked = await read("Latex allergy, but please don't write that down.");
  expect(asked).toMatchObject([{ strength: "hard", need: "other" }]);
  expect(await read("I'm seeing an oncologist on the 14th so can't do that day, please don't write that down.")).toEqual([]);
});

test("an order for one evening is nothing lasting, and an answer leads into what is told", async () => {
  expect(await read("Book the second one for me, my wife and Leo")).toEqual([]);
  const [anna] = await read("yes but my friend Anna has coeliac disease");
  expect(anna).toMatchObject({ text: "Friend Anna has coeliac disease", subject: "companion:friend", strength: "hard", stance: "unsure" });
  expect((await read("No peanuts, please"))[0]).toMatchObject({ need: "no_nuts" });
});

test.each(["Book the almond oil massage", "Reserve the peanut massage", "Book the almond milk facial for me", "Can I have the nut roast?"])(
  "what is ordered by its name is not avoided: %s",
  async (order) => {
    expect(await read(order)).toEqual([]);
  },
);

test.each(["Book a table careful with almonds", "Book us in, nuts make my throat close up", "Book the almond cake without nuts"])(
  "an order that tells of a need is heard: %s",
  async (order) => {
    expect(await read(order)).toMatchObject([{ strength: "hard" }]);
  },
);

test.each([
  "I need a table on the ground floor",
  "I need a room for my mother who cannot climb",
  "I need a room close to the ground, heights terrify me",
  "I need a table away from smokers",
  "We need a table for two and a high chair",
  "Je cherche une chambre au rez-de-chaussée, mes genoux sont fichus",
  "Ich suche ein Zimmer fern von Katzen",
])("what is looked for and must be so is asked about: %s", async (text) => {
  expect(await read(text)).toMatchObject([{ strength: "hard", stance: "unsure" }]);
});

test.each([
  "I need a table for two",
  "We need a hotel in Lisbon for 3 nights",
  "I need a table for two at Noma on Friday",
  "Busco un hotel en Sevilla para dos",
  "Ich suche ein Zimmer in Berlin",
])("what is looked for and no more is nothing to keep: %s", async (text) => {
  expect(await read(text)).toEqual([]);
});

test.each([
  ["Ich mag Jazz.", "Buchen Sie zwei Karten für das erste"],
  ["Ich mag Jazz.", "Ja bitte"],
  ["I love jazz.", "sí"],
  ["I love jazz.", "yes please"],
  ["I love jazz.", "oui"],
  // An agreement, and a choice among what was shown.
  ["I love jazz.", "yep, remember that please"],
  ["I love jazz.", "thats correct, thx"],
  ["I love jazz.", "ok the second one then"],
  ["I love jazz.", "actually make it 4"],
  ["I love jazz.", "no, not the last one"],
  ["I love jazz.", "hm too expensive"],
  // Something else is dropped.
  ["I love jazz.", "never mind the budget"],
  ["I love jazz.", "forget the dinner"],
])("%s %s takes nothing back", async (said, next) => {
  const known = (await read(said)).map((operation, n) => ({
    ...sampleMemory({ text: operation.text, id: `known-${n}` }),
    source: SAID_BEFORE,
  }));
  expect(known).not.toEqual([]);
  const message = { ...messageOf(next), turn: 2, known };
  expect((await standInReader(judge).read(message, { signal: AbortSignal.timeout(60_000) })).operations).toEqual([]);
});

test.each([
  ["I'm allergic to sesame.", "sure, but only if it works with my allergy"],
  ["I'm allergic to sesame.", "ok provided its fine for my alergy"],
  ["I'm allergic to sesame.", "Book it as long as the kitchen knows about my allergy"],
  ["I'm coeliac.", "yes, unless theres gluten"],
])("%s %s: a condition takes nothing back, and tells nothing new", async (said, next) => {
  const known = (await read(said)).map((operation, n) => ({
    ...sampleMemory({ text: operation.text, about: operation.about, need: operation.need, category: "dietary", id: `known-${n}` }),
    strength: "hard" as const,
    source: SAID_BEFORE,
  }));
  expect(known).toHaveLength(1);
  const message = { ...messageOf(next), turn: 2, known };
  const { operations } = await standInReader(judge).read(message, { signal: AbortSignal.timeout(60_000) });
  expect(operations.filter(({ op }) => op !== "confirm")).toEqual([]);
});

test.each(["I might be allergic to nuts, not sure", "Not sure, I might be allergic to nuts"])(
  "[ended-in-other-words] a doubt about another need takes nothing back: %s",
  async (next) => {
    const steps = sampleMemory({ text: "Needs step-free access", about: "step-free access", strength: "hard", need: "step_free" });
    const message = { ...messageOf(next), turn: 2, known: [{ ...steps, source: SAID_BEFORE }] };
    const { operations } = await standInReader(judge).read(message, { signal: AbortSignal.timeout(60_000) });
    expect(operations.filter(({ op }) => op === "end")).toEqual([]);
  },
);

test("[ended-in-other-words] who tells more of what must hold takes nothing of it back", async () => {
  const coeliac = sampleMemory({ text: "Daughter is coeliac", subject: "companion:daughter", strength: "hard", need: "no_gluten" });
  const known = [{ ...coeliac, about: "coeliac", source: SAID_BEFORE }];
  const ends = async (text: string) => {
    const message = { ...messageOf(text), turn: 2, known };
    const { operations } = await standInReader(thinking(3, 3, 9)).read(message, { signal: AbortSignal.timeout(60_000) });
    return operations.filter(({ op }) => op === "end");
  };
  expect(await ends("I can't manage steps myself any more, I've the walker now")).toEqual([]);
  expect(await ends("Sorry, that was a mistake, scrap that")).toHaveLength(1);
});

test.each(["sorry, forget I said that", "no wait, that's wrong"])("what does take back is still read so: %s", async (next) => {
  const known = [{ ...sampleMemory({ text: "Loves jazz", about: "jazz", id: "known" }), source: SAID_BEFORE }];
  const { operations, off_record } = await standInReader(judge).read(
    { ...messageOf(next), turn: 2, known },
    { signal: AbortSignal.timeout(60_000) },
  );
  expect(operations.length > 0 || off_record === "previous").toBe(true);
});

test.each([
  "Vegetarian lunch in Lisbon for three",
  "halal dinner tonight",
  "Kosher restaurant in Vienna please",
  "vegan resturant for 4, in Dublin",
])("a search for one evening is nothing to keep: %s", async (text) => {
  expect(await read(text)).toEqual([]);
});

test.each([
  ["Halal meals only, table for two", "halal"],
  ["Nut free lunch in Dublin for two, no peanuts please", "no_nuts"],
  ["Vegan dinner in Berlin for me and my wife", "vegan"],
])("what may have to hold is asked about, or kept, all the same: %s", async (text, need) => {
  expect(await read(text)).toContainEqual(expect.objectContaining({ need, strength: "hard" }));
});

test("in a domain without words of its own a plain taste is kept too", async () => {
  const reader = new OfflineReader({ needs: [], categories: [], judge, giveWay: async () => {} });
  const tastes = async (text: string) => {
    const operations = (await reader.read(messageOf(text), { signal: AbortSignal.timeout(60_000) })).operations;
    return operations.map((operation) => operation.text);
  };
  expect(await tastes("I'm allergic to nuts, and I prefer a table by the window.")).toContain("Prefers a table by the window");
  expect(await tastes("I prefer window seats")).toEqual(["Prefers window seats"]);
  expect(await tastes("Please book two seats for Friday.")).toEqual([]);
});

/** The same is thought of every sentence. */
const thinking = (keep: number, hard: number, back = -9) => ({
  judge: async (texts: readonly unknown[]) => texts.map(() => ({ keep, hard, back, category: "other" })),
});

test("what one sentence plainly tells of several things is kept one by one, of what else stands beside a need the longest run", async () => {
  const kept = async (text: string) => (await read(text, thinking(3, -3))).map(({ text: memory, subject }) => [memory, subject]);
  expect(await kept("I love jazz, and my wife hates garlic.")).toEqual([
    ["Loves jazz", "self"],
    ["Wife hates garlic", "companion:wife"],
  ]);
  expect(await kept("I prefer jazz concerts, and I usually book 2 tickets.")).toEqual([
    ["Prefers jazz concerts", "self"],
    ["Usually books 2 tickets", "self"],
  ]);
  expect(await kept("We love a corner table and late dinners")).toHaveLength(1);
  const beside = "I'm allergic to nuts, and I love jazz and late dinners.";
  expect((await read(beside, thinking(3, -3))).map(({ text, strength }) => [text, strength])).toEqual([
    ["Is allergic to nuts", "hard"],
    ["Loves jazz and late dinners", "soft"],
  ]);
});

test("a taste beside a need is kept however short it is, where a rule understood it", async () => {
  const said = await read("I hate techno, and I'm vegan.", thinking(3, -3));
  expect(said.map(({ text, need }) => [text, need])).toEqual(expect.arrayContaining([["Hates techno", null]]));
});

test("what must hold is kept by the need's name where its words name one, and a friend's is asked about as theirs", async () => {
  const told = async (text: string) => (await read(text, thinking(3, 3))).map(({ subject, need, stance }) => [subject, need, stance]);
  expect(await told("My daughter Mia has celiac disease")).toEqual([["companion:daughter", "no_gluten", "stated"]]);
  expect(await told("My wife Anna, shes vegan")).toEqual([["companion:wife", "vegan", "stated"]]);
  expect(await told("My friend Tom is allergic to nuts.")).toEqual([["companion:friend", "no_nuts", "unsure"]]);
});

test("a taste of a relative's is left where nothing is said of the guest, a need is asked about", async () => {
  expect(await read("Uncle's a big fan of trains", thinking(3, -3))).toEqual([]);
  expect(await read("My uncle's a big fan of trains", thinking(3, -3))).toHaveLength(1);
  expect((await read("Uncle's got a bad heart", thinking(3, 3))).map(({ stance }) => stance)).toEqual(["unsure"]);
});

test("[stand-in-asks] a sentence that names no need of the domain's holds by the guest's yes alone", async () => {
  const asked = await read("One bite and you'll be ringing the ambulance, I can't take the altitude.", thinking(9, 9));
  expect(asked).toMatchObject([{ strength: "hard", need: "other", stance: "unsure" }]);
});

test("what must hold by its name is kept from less on than a taste, unless something is denied or over, which is asked about", async () => {
  const stance = async (text: string) => (await read(text, thinking(1.9, 2))).map((operation) => operation.stance);
  expect(await stance("I get around by wheelchair, mind the doors")).toEqual(["stated"]);
  expect(await stance("I am not fit for the altitude with my lungs")).toEqual(["unsure"]);
  expect(await stance("We need the ground floor no longer")).toEqual(["unsure"]);
  expect(await read("I am happy up there with my lungs", thinking(1.9, -2))).toEqual([]);
});

test("[stand-in-asks] what seems to have to hold is asked about where it isn't plain, and where it is supposed", async () => {
  expect((await read("My knees are useless on stairs since the operation.", thinking(2, 2))).map(brief)).toEqual([
    expect.objectContaining({ op: "add", strength: "hard", stance: "unsure" }),
  ]);
  expect((await read("If there are strobes I end up in hospital.", thinking(3, 3))).map(brief)).toEqual([
    expect.objectContaining({ op: "add", strength: "hard", stance: "unsure" }),
  ]);
});

test.each([
  "Is there anything on tomorrow night?",
  "Oh great, I just love waiting in the rain.",
  "If I were rich I would sit in a box.",
  "My dentist only listens to opera.",
  "Please book two seats for Friday.",
])("nothing is kept of: %s", async (text) => {
  expect(await read(text)).toEqual([]);
});

test("[stand-in-goes-on] where meanings can't be had, messages are judged by their words, which is told once", async () => {
  const told: unknown[] = [];
  const logger = { ...silentLogger, warn: (...line: unknown[]) => void told.push(line) };
  const failing = {
    id: embedder.id,
    embed: () => Promise.reject(new AppError("EMBEDDING_UNAVAILABLE", { detail: "The model's thread is not there." })),
  };
  const withoutMeaning = sentenceJudgeFor({ embedder: failing, logger });
  for (const _ of [1, 2]) {
    const tastes = await read("I love jazz. Trains with a quiet coach are what I always go for.", withoutMeaning);
    expect(tastes.map(({ text }) => text)).toEqual(["Loves jazz", "Trains with a quiet coach are what I always go for"]);
  }
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).not.toContain("jazz");
});

test("what fails otherwise is told to whoever asked", async () => {
  const broken = { id: embedder.id, embed: () => Promise.reject(new Error("no such thing")) };
  await expect(read("I love jazz.", new MeaningJudge({ embedder: broken, logger: silentLogger }))).rejects.toThrow("no such thing");
});

test("with the package's table sentences are judged by their words; with an embedder of somebody else's, by rules alone", async () => {
  const table = new SentenceEmbedder(new WordTable(), new HashingEmbedder({ dimension: 128 }));
  const byWords = sentenceJudgeFor({ embedder: table, logger: silentLogger });
  expect((await read("Trains with a quiet coach are what I always go for. I like jazz.", byWords)).map(({ text }) => text)).toEqual([
    "Trains with a quiet coach are what I always go for",
    "Likes jazz",
  ]);
  expect(await read("Is there anything on tomorrow night?", byWords)).toEqual([]);
  expect(sentenceJudgeFor({ embedder: new HashingEmbedder({ dimension: 512 }), logger: silentLogger })).toBeNull();
});

test("what the guest asks to have remembered is believed, however it is asked", async () => {
  const stances = await read("Could you kindly remember that I'm vegan?", thinking(-6, -1));
  expect(stances.map(({ text, stance }) => [text, stance])).toEqual([["Is vegan", "stated"]]);
  expect((await read("I'm vegan", thinking(-6, -1))).map(({ stance }) => stance)).toEqual(["unsure"]);
});

test("what was trained is of as many features as a sentence has", () => {
  const meaning = new Float32Array(MEANING);
  const seen = { text: "I love jazz", message: "I love jazz", place: 0, sentences: 1, english: true };
  const features = featuresOf({ ...seen, messageWords: wordsOf("I love jazz"), meaning, messageMeaning: meaning });
  const bytes = ({ values }: { readonly values: string }) => Buffer.from(values, "base64").length;
  for (const { keep, hard, back } of [trained, ofWords])
    expect([keep, hard, back].map(bytes)).toEqual([features.size, WORDS_OF_MESSAGE, WORDS_OF_MESSAGE]);
});
