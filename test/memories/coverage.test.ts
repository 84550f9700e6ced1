import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_WORDS } from "../../packages/concierge/src/words.js";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import type { Memory } from "../../src/domain/memory.js";
import { needTalkOf, needWordsOf } from "../../src/languages/need-talk.js";
import { Coverage } from "../../src/memories/coverage.js";
import { readMessage } from "../../src/memories/read-message.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MessageReader, MessageToRead, NeedsReading } from "../../src/ports/extraction.js";
import { messageOf, type Proposal, proposed } from "../reading/message.js";
import { memoryOf } from "../support/memory-of.js";
import { standInReader } from "../support/stand-in.js";

const signal = new AbortController().signal;
const parts = { categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS, logger: silentLogger };
const coverage = new Coverage(CONCIERGE_NEEDS, needTalkOf(CONCIERGE_WORDS.needs));

/** A model that proposes this, and on a second look that. Counts the looks. */
class Model implements MessageReader {
  readonly name = "scripted";
  readonly asked: (readonly string[])[] = [];
  readonly #first: readonly Proposal[];
  readonly #second: (() => Partial<NeedsReading>) | undefined;

  constructor(first: readonly Proposal[], second?: () => Partial<NeedsReading>) {
    this.#first = first;
    this.#second = second;
  }

  async read() {
    return { operations: this.#first.map(proposed), off_record: null, unreadable: 0 };
  }

  async readNeeds(_message: MessageToRead, needs: readonly string[]): Promise<NeedsReading> {
    this.asked.push(needs);
    return { operations: [], off_record: null, unreadable: 0, nobodys: [], ...this.#second?.() };
  }
}

async function kept(reader: MessageReader, text: string, more: Partial<MessageToRead> = {}, covers = coverage) {
  const { operations } = await readMessage(reader, { ...parts, coverage: covers })(messageOf(text, more), signal);
  return operations.map(({ statement, waits }) => [statement?.need, statement?.text, statement?.subject, waits]);
}

const held = (more: Partial<Memory>): Memory => ({
  ...memoryOf(proposed({ quote: "", strength: "hard", category: "dietary" }), "m1", new Date("2026-03-01T10:00:00Z")),
  ...more,
});

describe("[need-told] a need that the guest's words tell and nobody proposed", () => {
  test("is not covered by a proposal of another need whose text names it: what holds as one need holds as no other", () => {
    const text = "I need step-free access, and no nuts please.";
    const bundle = proposed({ quote: text, text: "Needs step-free access and no nuts", strength: "hard", need: "step_free" });
    expect(coverage.uncovered(messageOf(text), [bundle]).map(({ need }) => need)).toEqual(["no_nuts"]);
  });

  test.each([
    "Je ne peux pas monter les escaliers",
    "Ma femme Léa ne peut pas monter les escaliers",
    "No puedo subir escaleras",
    "Non posso fare le scale",
    "Ich kann keine Treppen steigen",
    "I don't do stairs",
  ])("is what somebody can't do, by a word for what they need: %s", async (text) => {
    const words = ["escaliers", "escaleras", "scale", "Treppen", "stairs"];
    const needs = [{ name: "step_free", description: "no stairs", words }];
    const told = new Coverage(needs, needTalkOf(needWordsOf(needs))).uncovered(messageOf(text), []);
    expect(told.map(({ need }) => need)).toEqual(["step_free"]);
    expect(told.map(({ subject }) => subject === "companion:wife")).toEqual([text.includes("femme")]);
  });

  test("is not told by a word for it that is no trouble", () => {
    const needs = [{ name: "step_free", description: "no stairs", words: ["stairs"] }];
    expect(new Coverage(needs, needTalkOf(needWordsOf(needs))).uncovered(messageOf("I don't mind stairs"), [])).toEqual([]);
  });

  test.each([null, "other"])("is not covered by a bundle that holds as none of the needs that it names (%s)", async (need) => {
    const text = "I'm vegetarian, allergic to nuts and I need step-free access.";
    const bundle = { quote: text, text: "Vegetarian, allergic to nuts and no stairs", about: "nuts", strength: "hard", need } as const;
    const told = await kept(new Model([proposed({ ...bundle, category: "dietary" })]), text);
    expect(told.map(([of, , , waits]) => [of, waits])).toEqual([
      ["other", null],
      ["vegetarian", "unsure"],
      ["no_nuts", "unsure"],
      ["step_free", "unsure"],
    ]);
  });

  test.each([
    ["quotes what nobody said", { quote: "She is a vegan" }],
    ["tells a secret", { quote: "My daughter can't eat nuts", text: "No nuts, password: hunter22" }],
    ["only asks", { quote: "A table for dinner", text: "A table for dinner", about: "nuts in dinner", need: "other" }],
  ])("is not covered by a proposal that %s, of the first look or the second, as that one is dropped", async (_, given) => {
    const text = "My daughter can't eat nuts. A table for dinner?";
    const garbage = proposed({ text: "No nuts", strength: "hard", need: "no_nuts", subject: "companion:daughter", ...given });
    const byName = [["no_nuts", "Daughter: no nuts", "companion:daughter", "unsure"]];
    expect(await kept(new Model([garbage]), text)).toEqual(byName);
    expect(await kept(new Model([], () => ({ operations: [garbage] })), text)).toEqual(byName);
  });

  test("is read for once more, alone, and holds where that finds it", async () => {
    const nuts = proposed({ quote: "I can't have nuts", text: "Can't have nuts", about: "nuts", need: "no_nuts", strength: "hard" });
    const model = new Model([{ quote: "I love jazz" }], () => ({ operations: [nuts] }));
    expect(await kept(model, "I love jazz and I can't have nuts")).toEqual([
      [null, "I love jazz", "self", null],
      ["no_nuts", "Can't have nuts", "self", null],
    ]);
    expect(model.asked).toEqual([["no_nuts"]]);
  });

  test("is asked about by its name where a second look finds nothing, and never looked for a third time", async () => {
    const model = new Model([]);
    expect(await kept(model, "My friend Ola uses a guide dog and can't have nuts")).toEqual([
      ["assistance_dog", "Friend: assistance dog (guide dog)", "companion:friend", "unsure"],
      ["no_nuts", "Friend: no nuts", "companion:friend", "unsure"],
    ]);
    expect(model.asked).toEqual([["assistance_dog", "no_nuts"]]);
  });

  test("is asked about where the second look fails", async () => {
    const model = new Model([], () => {
      throw new Error("the model is away");
    });
    expect(await kept(model, "I can't have nuts")).toEqual([["no_nuts", "No nuts", "self", "unsure"]]);
  });

  test("is not asked about where the second look says that nobody has it", async () => {
    expect(await kept(new Model([], () => ({ nobodys: ["vegan"] })), "Vegan is what they called my steak")).toEqual([]);
  });

  test("of what else a second look proposes nothing is taken", async () => {
    const more = [proposed({ quote: "I can't have nuts", text: "Loves opera", about: "opera", category: "genre" })];
    expect(await kept(new Model([], () => ({ operations: more })), "I can't have nuts")).toEqual([
      ["no_nuts", "No nuts", "self", "unsure"],
    ]);
  });

  test("is not lost for a quote of the whole message by which something else is proposed", async () => {
    const text = "I love opera and can't have nuts";
    const model = new Model([{ quote: text, text: "Loves opera", about: "opera" }]);
    expect(await kept(model, text)).toContainEqual(["no_nuts", "No nuts", "self", "unsure"]);
    const vegan = "I'm vegan and can't have nuts";
    const half = new Model([{ quote: vegan, text: "Is vegan", about: "vegan", need: "vegan", strength: "hard" }]);
    expect(await kept(half, vegan)).toContainEqual(["no_nuts", "No nuts", "self", "unsure"]);
  });

  test("is asked about by the stand-in at once", async () => {
    const reader = new Model([]);
    const once: MessageReader = { name: "once", read: () => reader.read() };
    expect(await kept(once, "I can't have nuts")).toEqual([["no_nuts", "No nuts", "self", "unsure"]]);
  });

  test("is asked about where a reader by rules keeps its words as a taste, and not where a model does", async () => {
    const reader = new Model([{ quote: "I can't have nuts", text: "Can't have nuts", about: "nuts" }]);
    const once: MessageReader = { name: "once", read: () => reader.read() };
    expect(await kept(once, "I can't have nuts")).toContainEqual(["no_nuts", "No nuts", "self", "unsure"]);
    expect(await kept(reader, "I can't have nuts")).toEqual([[null, "Can't have nuts", "self", null]]);
  });

  test("of a domain that doesn't tell how its guests speak is told by any of its words, outside of questions", async () => {
    const plain = new Coverage([{ name: "quiet_room", description: "a quiet room", words: ["earplugs"] }], undefined);
    const needs = [{ name: "quiet_room", description: "a quiet room", words: ["earplugs"] }];
    const read = readMessage(new Model([]), { ...parts, needs, coverage: plain });
    const asked = async (text: string) => (await read(messageOf(text), signal)).operations.map(({ statement }) => statement?.text);
    expect(await asked("I sleep with earplugs")).toEqual(["Quiet room (earplugs)"]);
    expect(await asked("Do you sell earplugs?")).toEqual([]);
  });
});

describe("[need-told] costs no second look, and asks nothing", () => {
  test.each([
    [
      "proposed as a need",
      "I can't have nuts",
      [{ quote: "I can't have nuts", text: "Can't have nuts", need: "no_nuts", strength: "hard" }],
    ],
    ["proposed under no name", "I can't have nuts", [{ quote: "I can't have nuts", text: "Is allergic to nuts", strength: "hard" }]],
    [
      "proposed in other words",
      "I can't have nuts",
      [{ quote: "I can't have nuts", text: "Avoids them", strength: "hard", need: "other" }],
    ],
    ["refused by a check", "I can't have nuts lol", [{ quote: "I can't have nuts", text: "Can't have nuts", stance: "joking" }]],
    ["part of what was proposed", "no fish for me, I'm vegan", [{ quote: "I'm vegan", text: "Is vegan", need: "vegan", strength: "hard" }]],
  ] satisfies readonly [string, string, readonly Proposal[]][])("where it is %s", async (_, text, proposals) => {
    const model = new Model(proposals);
    await kept(model, text);
    expect(model.asked).toEqual([]);
  });

  test.each([
    "Which places have nut-free menus?",
    "Do they have anything vegan at that place",
    "how do you usually seat somebody with a guide dog",
    "I'm not allergic to nuts",
    "No nut allergy here",
    "No need for wheelchair access",
    "I used to be vegetarian",
    "nobody in our party is diabetic",
    "My boss is vegan",
    "there was a lady ahead of us in a wheelchair",
    "My neighbour wrote: “I can't have nuts and I use a wheelchair”",
    "```\nI can't have nuts\n```",
    "Translate this for me: I can't have nuts",
    "What if I were vegan?",
    "I love seafood",
    "We took the stairs and had fish",
    "soy alérgica al polen",
    "えびの店はありますか？",
    "czy jest tu winda i schody?",
  ])("by %s", async (text) => {
    const model = new Model([]);
    expect((await kept(model, text)).filter(([need]) => need !== "other")).toEqual([]);
  });

  test.each([
    ["what is known", held({ need: "no_nuts", text: "Is allergic to nuts" }), "As I said, I can't have nuts"],
    ["what waits", held({ need: "no_nuts", text: "No nuts", status: "review" }), "I can't have nuts"],
    ["what is known of that companion", held({ need: "no_nuts", text: "x", subject: "companion:mother" }), "My mum can't have nuts"],
    ["what a diet holds", held({ need: "vegan", text: "Is vegan" }), "I don't eat fish"],
  ])("of %s", async (_, known, text) => {
    const model = new Model([]);
    expect(await kept(model, text, { known: [known] })).toEqual([]);
    expect(model.asked).toEqual([]);
  });

  test("but of two people of whom one was proposed it does of the other", async () => {
    const text = "I'm vegan, and my sister is vegan too";
    const model = new Model([{ quote: "I'm vegan", text: "Is vegan", about: "vegan", need: "vegan", strength: "hard" }]);
    expect(await kept(model, text)).toContainEqual(["vegan", "Sister: vegan", "companion:sister", "unsure"]);
    expect(await kept(new Model([]), "My sister is vegan. I don't eat fish")).toContainEqual(["no_fish", "No fish", "self", "unsure"]);
  });

  test("but of somebody else's it does", async () => {
    const known = [held({ need: "no_nuts", text: "Mother can't have nuts", subject: "companion:mother" })];
    expect(await kept(new Model([]), "I can't have nuts either", { known })).toEqual([["no_nuts", "No nuts", "self", "unsure"]]);
  });
});

describe("[need-told] told as guests do", () => {
  test.each([
    ["my kid's t1d", "other", "Child: t1d"],
    ["doctor says no dairy", "no_lactose", "No lactose (dairy)"],
    ["🥜🚫 pls", "no_nuts", "No nuts (🥜)"],
    ["♿ please", "step_free", "Step free (♿)"],
    ["can you find something nut-free for me", "no_nuts", "No nuts"],
    ["anything w/o nuts tonight?", "no_nuts", "No nuts"],
    ["can I bring my guide dog?", "assistance_dog", "Assistance dog (guide dog)"],
    ["helo i cnt eat shelfish at all", "no_shellfish", "No shellfish (shelfish)"],
    ["One sesame seed and my husband is reaching for the EpiPen", "no_sesame", "Husband: no sesame"],
    ["if my mum comes along we need a lift, she uses a rollator", "step_free", "Mother: step free (rollator)"],
    ["Ich vertrage keine Nüsse", "no_nuts", "No nuts (nusse)"],
    ["mam alergię na orzechy", "no_nuts", "No nuts (orzechy)"],
    ["Olen vegaani, en syö pähkinä", "no_nuts", "No nuts (pahkina)"],
    ["tekerlekli sandalye kullanıyorum", "step_free", "Step free (tekerlekli sandalye)"],
    ["えびアレルギーがあります", "no_shellfish", "No shellfish (えび)"],
  ])("%s", async (text, need, name) => {
    expect((await kept(new Model([]), text)).map(([named, said]) => [named, said])).toContainEqual([need, name]);
  });

  test.each([
    ["my kid's t1d", /t1d/iu],
    ["doctor says no dairy", /dairy|lactose/iu],
    ["my friend Ola uses a guide dog", /guide dog/iu],
    ["🥜🚫 pls", /nuts/iu],
    ["I am allergic to peanuts", /peanuts/iu],
    ["mam alergię na orzechy", /nuts|orzechy/iu],
    ["えびアレルギーがあります", /shellfish|えび/iu],
  ])("without a model it is not lost: %s", async (text, said) => {
    const all = await kept(standInReader(), text);
    expect(all.filter(([need]) => need !== null).map(([, name]) => name)).toContainEqual(expect.stringMatching(said));
  });

  test("without a model what is allergic to peanuts holds at once, as to nuts", async () => {
    for (const [text, judge] of ["I am allergic to nuts", "I am allergic to peanuts"].flatMap((each) =>
      [null, new WordsJudge()].map((one) => [each, one] as const),
    ))
      expect((await kept(standInReader(judge), text)).map(([need, , subject, waits]) => [need, subject, waits])).toEqual([
        ["no_nuts", "self", null],
      ]);
  });
});
