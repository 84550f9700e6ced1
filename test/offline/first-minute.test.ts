import { MiniLm } from "@maitred/minilm";
import { afterAll, describe, expect, test } from "vitest";
import { conciergeScript } from "../../packages/concierge/src/offline-script.js";
import { sentenceJudgeFor } from "../../packages/offline/src/learnt/sentence-judge.js";
import { HashingEmbedder } from "../../src/embedding/hashing-embedder.js";
import { SentenceEmbedder } from "../../src/embedding/sentence-embedder.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ScriptView } from "../../src/ports/offline-script.js";
import { readAlone } from "../support/read-alone.js";
import { scriptView } from "../support/script-view.js";

const embedder = new SentenceEmbedder(new MiniLm(), new HashingEmbedder({ dimension: 128 }));
const judge = sentenceJudgeFor({ embedder, logger: silentLogger });
afterAll(() => embedder.close());

/** A conversation that begins, where nothing is booked. */
const firstOf = (message: string): ScriptView =>
  scriptView({
    message,
    observations: [{ name: "list_bookings", input: {}, output: { bookings: [] } }],
    tools: new Set(["search_events", "list_bookings", "book_tickets", "remember", "forget", "list_memories"]),
  });

const hardIn = async (text: string, before: readonly string[] = []) =>
  (await readAlone(text, judge, [], before))
    .filter(({ strength }) => strength === "hard")
    .map(({ text: said, subject, need, stance }) => `${stance} ${subject} ${need}: ${said}`);

describe("who comes along, and what must hold for them, in a first message", () => {
  test.each([
    ["Dad is coming along and he uses a wheelchair. I love jazz.", "stated companion:father step_free: Father uses a wheelchair"],
    ["Mum comes along and she is deaf", "stated companion:mother hearing_loop: Mother is deaf"],
    ["Aunt Rose is coming along and she has coeliac disease", "stated companion:aunt no_gluten: Aunt Rose has coeliac disease"],
    ["Grandad's coming with us and he wears hearing aids.", "stated companion:grandfather hearing_loop: Grandfather wears hearing aids"],
    ["My uncle Ted is joining us and he can't manage stairs", "stated companion:uncle step_free: Uncle Ted cannot manage stairs"],
    ["me and my mum are coming, she cant do stairs", "stated companion:mother step_free: Mother cannot do stairs"],
    ["I usually go out with my sister Ida, who is deaf.", "stated companion:sister hearing_loop: Sister Ida is deaf"],
    ["My brother Jim, who's in a wheelchair, loves opera", "stated companion:brother step_free: Brother Jim is in a wheelchair"],
    ["I am bringing my mother, who can't manage steps", "stated companion:mother step_free: Mother cannot manage steps"],
    [
      "We are a family of four, our daughter Mia has coeliac disease",
      "stated companion:daughter no_gluten: Daughter Mia has coeliac disease",
    ],
    ["i'm vegetarian my husband eats anything", "stated self vegetarian: Is vegetarian"],
    ["i'm vegan my wife isn't", "stated self vegan: Is vegan"],
  ])("is theirs and holds: %s", async (text, memory) => {
    expect(await hardIn(text)).toEqual([memory]);
  });

  test("of each in a sentence of two", async () => {
    expect(await hardIn("my dad uses a wheelchair and mum is coeliac")).toEqual([
      "stated companion:father step_free: Dad uses a wheelchair",
      "unsure companion:mother no_gluten: Mum is coeliac",
    ]);
    expect(await hardIn("i'm coeliac my daughter has a nut allergy")).toEqual([
      "stated self no_gluten: Is coeliac",
      "stated companion:daughter no_nuts: Daughter is allergic to nut",
    ]);
  });

  test.each([
    ["Tom from work is joining and he is vegan"],
    ["Ana is coming along. She is vegan."],
    ["Could my sister Ida, who's vegan, eat there?"],
    ["Marco himself can't have kiwi"],
  ])("is asked about where nobody knows whose: %s", async (text) => {
    expect(await hardIn(text)).toEqual([expect.stringMatching(/^unsure/)]);
  });

  test.each([
    ["Dad is coming along"],
    ["For me and daughter Zosia"],
    ["It's for me and my friend Leanne"],
    ["there's me, my husband and the twins"],
    ["Mum and my brother Jo are joining us"],
  ])("who comes is no need, and nothing is asked: %s", async (text) => {
    expect(await readAlone(text, judge)).toEqual([]);
  });

  test("a list goes on of whom it began with", async () => {
    expect(await hardIn("Marco himself can't have kiwi or banana, latex thing")).toEqual(
      ["kiwi", "banana", "latex"].map((thing) => `unsure companion:Marco other: Marco can't have ${thing}`),
    );
  });
});

describe("the answer to a first message", () => {
  const answered = (message: string) => conciergeScript.next(firstOf(message));

  test.each([
    ["Dad is coming along and he uses a wheelchair. I am vegan and I love jazz.", "father uses a wheelchair; is vegan; loves jazz"],
    ["hi im nina, me and my mum are coming, she cant do stairs and im coeliac", "mother cannot do stairs; is coeliac"],
    ["no nuts for me please, and my boyfriend doesn't eat pork", "no nuts for me; boyfriend does not eat pork"],
    ["The kids are coming too. I like football.", "likes football"],
    ["So a bit about me: I live in Dublin, I'm pescatarian, and my son Leo (9) comes along", "lives in Dublin; is pescatarian"],
    ["mum's joining us, she uses a walker. big fan of theatre", "mother uses a walker"],
    ["Grandad's coming with us and he wears hearing aids. I keep kosher.", "grandfather wears hearing aids; keeps kosher"],
  ])("names what was understood, and looks for nothing: %s", (message, understood) => {
    expect(answered(message)).toMatchObject({ type: "say", text: expect.stringContaining(`: ${understood}.`) });
  });

  test.each([["It's for me and my friend Leanne"], ["For me and daughter Zosia"]])("looks for nobody's name: %s", (message) => {
    expect(answered(message)).toMatchObject({ type: "say", text: expect.stringMatching(/^Noted/) });
  });

  test.each([
    ["Dad loves opera, find something for Saturday"],
    ["Jazz please, I'm vegan"],
    ["I'm coeliac, dinner in Vienna on Saturday"],
    ["Mum wants to see a football match in Hamburg"],
  ])("looks for what is asked for beside it: %s", (message) => {
    expect(answered(message)).toMatchObject({ type: "call", calls: [{ name: "search_events" }] });
  });
});

describe("what is no need of anybody is not asked about", () => {
  test.each([
    ["I'm coeliac btw, actual coeliac not fashion coeliac, so they need a separate fryer", ["stated self no_gluten: Is coeliac"]],
    ["I'm coeliac. Not a crumb, please.", ["stated self no_gluten: Is coeliac"]],
    ["We keep kosher, so packed lunch or somewhere certified would be great.", ["stated self kosher: Keeps kosher"]],
    ["Ruth can't manage stairs since her fall, so ground floor", ["unsure companion:Ruth step_free: Ruth can't manage stairs"]],
    ["callum cant eat egg. not a bit of cake even", ["unsure companion:callum no_egg: Callum cant eat egg"]],
    ["One of the ladies told me in confidence that her son is getting divorced so I'd like a table that isn't too close to anyone!", []],
    ["my doctor says to give up red wine. my doctor can come and tell me himself", []],
    ["not the fusion lot, i find fusion like being trapped in a lift with a salesman", []],
    ["no she's fine with walking, fitter than me", []],
    ["No I'm not allergic to anything", []],
    ["Nobody in our party is diabetic", []],
  ])("%s", async (text, asked) => {
    expect((await hardIn(text)).filter((each) => !each.includes("red wine"))).toEqual(asked);
  });

  test.each([
    ["I'm coeliac. Lavender oil brings me out in hives.", /Lavender oil/],
    ["No nuts for me. Latex gloves put me in hospital last year.", /Latex gloves/],
    ["My boss won't eat brinjal and he is coming along", /Boss won't eat brinjal/],
    ["I need a room on a low floor, I don't care where", /low floor/],
    ["Nobody in our group can eat nuts", /can eat nuts/],
    ["My pacemaker means no security gates at all please", /security gates/],
    ["It's my MS. good days and bad days, sometimes the stick sometimes the chair, so assume chair", /assume chair/],
  ])("but what may have to hold is: %s", async (text, asked) => {
    expect(await hardIn(text)).toContainEqual(expect.stringMatching(asked));
  });
});

test.each([
  ["I lip read, so I need good light and to see faces"],
  ["Oxygen bottle comes everywhere with me, it's loud and needs a socket by the bed"],
  ["I might be allergic to kiwi, we're waiting for the test"],
])("a raw sentence of a need without a name waits for the guest's word: %s", async (text) => {
  expect(await hardIn(text)).toEqual([expect.stringMatching(/^unsure self other/)]);
});

test.each([["no feather pillows or duvets, allergic"], ["I'm allergic to latex so no gloves please"], ["I can't have grapefruit"]])(
  "what is avoided by its name holds: %s",
  async (text) => {
    expect(await hardIn(text)).toContainEqual(expect.stringMatching(/^stated self other/));
  },
);

test.each([
  ["my alarm code is four seven two one and I'm coeliac", /coeliac/],
  ["the gate code is one seven four two and loud noises really set my son off", /loud noises/i],
  ["I lip read so I need good light and my locker code is four four one two", /good light/],
  ["the gate code is 1742 and loud noises really set my son off", /loud noises/i],
  ["the safe combination is twelve thirty four fifty six, my chair is 70 cm wide", /70 cm/],
])("a code in words is kept nowhere, and the need beside it is: %s", async (text, need) => {
  const kept = JSON.stringify(await readAlone(text, judge));
  expect(kept).toMatch(need);
  expect(kept).not.toMatch(/code|four|twelve|1742/);
});

test("numbers that are no code stay", async () => {
  expect(await hardIn("we are one two or three people, I'm coeliac")).toEqual(["stated self no_gluten: Is coeliac"]);
});

test.each([
  ["We're only here two days and she is coeliac", "unsure self no_gluten"],
  ["I am not from here but she's allergic to nuts", "unsure self no_nuts"],
  ["We stay late and she also uses a wheelchair", "unsure self step_free"],
  ["I told her I'm allergic to nuts", "stated self no_nuts"],
  ["Tell him I can't have gluten", "stated self no_gluten"],
  ["I don't do lifts", "stated self other"],
  ["My wife can't do lifts", "stated companion:wife other"],
  ["I can't manage without a lift", "stated self step_free"],
  ["I need a lift", "unsure self step_free"],
  ["btw dev is jain", "unsure companion:dev other"],
])("whose a need is, and which: %s", async (text, read) => {
  expect(await hardIn(text)).toEqual([expect.stringMatching(new RegExp(`^${read}`))]);
});

test.each([["Nobody here has a nut allergy."], ["I've never had any allergy."], ["the menu is jain friendly?"]])(
  "no need is told, and none asked about: %s",
  async (text) => {
    expect(await hardIn(text)).toEqual([]);
  },
);

describe("an illness or a faith by a word that nobody knows is no name, and is asked about", () => {
  test.each([
    ["Mum has Alzheimer's", /^unsure companion:mother/],
    ["My son has Type 1", /^unsure companion:son/],
    ["My wife has Lupus and comes along", /^unsure companion:wife/],
    ["My daughter has Tourette's", /^unsure companion:daughter/],
    ["My sister has Ménière's", /^unsure companion:sister/],
    ["My mum has Raynaud's", /^unsure companion:mother/],
    ["My brother has Down's", /^unsure companion:brother/],
    ["My wife has Ehlers-Danlos", /^unsure companion:wife/],
    ["Mum is Jain", /^unsure companion:mother/],
    ["My husband is Muslim", /^unsure companion:husband/],
    ["For me and my Vegan wife", /companion:wife vegan/],
    ["There's Tom and me, he has Epilepsy", /Epilepsy/],
    ["It's just me and my Oxygen", /Oxygen/],
  ])("%s", async (text, asked) => {
    expect(await hardIn(text)).toEqual([expect.stringMatching(asked)]);
  });
});

describe("a second need is no more of the first", () => {
  test.each([
    ["I'm allergic to nuts. Proper coeliac too", /no_gluten/],
    ["No gluten for me. Proper nut allergy as well", /no_nuts/],
    ["I'm coeliac. Not a bit of shellfish either", /shellfish/],
    ["I can't have egg. Throat closes with kiwi too", /kiwi/],
    ["I can't have egg. Not a drop of alcohol, I'm in recovery", /alcohol/],
    ["I'm coeliac. Actual stairs are a problem too", /stairs/],
    ["I'm coeliac. A separate kitchen would be good, shellfish put me in hospital", /no_shellfish/],
    ["My wife is vegan, heat makes her faint", /heat/],
    ["I'm coeliac, so oats are bad too", /[Oo]ats/],
    ["I can't have gluten. Not a crumb of oats", /oats/],
  ])("%s", async (text, second) => {
    const needs = await hardIn(text);
    expect(needs).toHaveLength(2);
    expect(needs[1]).toMatch(second);
  });

  test.each([["I'm allergic to nuts. epipen and everything"], ["I'm coeliac. Proper coeliac, not fashion coeliac"]])(
    "but how bad it is is: %s",
    async (text) => {
      expect(await hardIn(text)).toHaveLength(1);
    },
  );
});

describe("what stands before a code and behind it is read, and by whom it is meant", () => {
  test.each([
    [
      "I have a severe peanut allergy and the gate code is 4471 but please ring the bell twice when you come round",
      ["stated self no_nuts: Is allergic to peanut"],
    ],
    [
      "I'm allergic to walnuts, the door code is 4471, and my husband uses a wheelchair since his stroke",
      ["stated self no_nuts: Is allergic to walnuts", "stated companion:husband step_free: Husband uses a wheelchair"],
    ],
    ["I can't eat gluten: code 1234 on my coeliac card", ["stated self no_gluten: Cannot eat gluten"]],
    [
      "My daughter's insulin pump pin is 4482 and she needs her insulin kept cold",
      ["unsure companion:daughter other: Daughter needs her insulin kept cold"],
    ],
    ["The booking code is five five one and no nuts for Ben please", ["unsure self no_nuts: No nuts for Ben"]],
    [
      "The pin is 1234, no shellfish for me, and the alarm code is 9876 and no nuts",
      ["stated self no_shellfish: No shellfish for me", "stated self no_nuts: No nuts"],
    ],
  ])("%s", async (text, needs) => {
    expect(await hardIn(text)).toEqual(needs);
  });
});

test.each([
  ["Ana can't have dairy, allergic to bees myself", "stated self other: Is allergic to bees myself"],
  ["Priya doesn't eat beef, gluten free please", "stated self no_gluten: Gluten free"],
  ["Marco can't have kiwi, and no nuts please", "stated self no_nuts: No nuts"],
])("what the guest asks for behind somebody else's need is their own: %s", async (text, own) => {
  expect(await hardIn(text)).toEqual([expect.stringMatching(/^unsure companion/), own]);
});

test.each([
  ["My friend gets seizures from strobe", /^unsure companion:friend/],
  ["My mate passes out if he stands long", /^unsure companion:mate/],
  ["My mum told me she can't do long walks any more", /^unsure companion:mother/],
  ["My son told me he gets dizzy on balconies", /^unsure companion:son/],
  ["In confidence, I take blood thinners so nothing sharp", /^unsure self/],
  ["It feels like being stabbed if I eat gluten", /^unsure self no_gluten/],
])("what was told, of a friend, or by what it is like is asked about: %s", async (text, asked) => {
  expect(await hardIn(text)).toEqual([expect.stringMatching(asked)]);
});

test.each([["I love how she is vegan and still fun"], ["I love her coeliac cookbook"]])(
  "what is liked of somebody else is not kept of the guest: %s",
  async (text) => {
    expect(await hardIn(text)).toEqual([expect.stringMatching(/^unsure/)]);
  },
);
