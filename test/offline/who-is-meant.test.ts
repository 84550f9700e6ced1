import { expect, test } from "vitest";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { MessageToRead } from "../../src/ports/extraction.js";
import { readAlone } from "../support/read-alone.js";
import { sampleMemory } from "../support/samples.js";
import { standInReader } from "../support/stand-in.js";

const read = async (text: string, known: MessageToRead["known"] = [], before: readonly string[] = []) => {
  const context = before.map((content) => ({ role: "user" as const, content }));
  const message = { owner: ownerOf("default", "ann"), session_id: "s", turn: 2, message_id: "m", text, context, known };
  const said = { ...message, stated_at: new Date("2026-03-11T10:00:00Z"), time_zone: "UTC" };
  return (await standInReader(null).read(said, { signal: new AbortController().signal })).operations;
};

test.each([
  ["hubbys knee is shot so no stairs for him", { subject: "companion:husband", text: "Husband: no stairs for him", need: "step_free" }],
  ["My wife is coming. She's vegan.", { subject: "companion:wife", text: "Wife is vegan", need: "vegan" }],
  [
    "alors ma soeur Inès vient aussi, elle est en fauteuil roulant",
    { subject: "companion:sister", text: "Sister Inès: elle est en fauteuil roulant", need: "step_free" },
  ],
  [
    "meine Freundin kommt mit, bitte keine Nüsse für sie",
    { subject: "companion:girlfriend", text: "Girlfriend: bitte keine Nüsse für sie", need: "no_nuts" },
  ],
  [
    "Ma femme est du voyage. Il lui faut une place pour fauteuil roulant",
    { subject: "companion:wife", text: "Wife: il lui faut une place pour fauteuil roulant", need: "step_free", stance: "stated" },
  ],
  [
    "Meine Eltern kommen mit. Sie sind vegan",
    { subject: "companion:parents", text: "Parents: sie sind vegan", need: "vegan", stance: "stated" },
  ],
  [
    "Mes enfants viennent avec nous pour le concert. Ils sont végétariens",
    { subject: "companion:children", need: "vegetarian", stance: "stated" },
  ],
])("what is said of somebody by a pronoun is theirs, and names them: %s", async (text, memory) => {
  expect(await read(text)).toEqual([expect.objectContaining({ ...memory, strength: "hard" })]);
});

const source = { session_id: "s", turn: 1, message_id: "m", quote: "q" };
const dad = { ...sampleMemory({ text: "Dad loves opera", subject: "companion:father" }), source };

test("'he' may be whom the message before was about, which is asked", async () => {
  expect(await read("He's a wheelchair user", [dad])).toMatchObject([
    { subject: "companion:father", text: "Father is a wheelchair user", stance: "unsure" },
  ]);
});

test("'she' may be who was named in the message before, of which nothing is kept", async () => {
  const before = ["Two seats for the ninth, please. My wife and I shall come by train."];
  expect(await read("She's vegan", [], before)).toMatchObject([{ subject: "companion:wife", text: "Wife is vegan", stance: "unsure" }]);
  expect(await read("He's vegan", [], before)).not.toContainEqual(expect.objectContaining({ stance: "stated" }));
});

test("'she' may be who was named some messages before, and is called by her name", async () => {
  const before = ["My wife Margery is coming too", "dinner for two on friday", "at eight"];
  const asked = await readAlone("She wears hearing aids", new WordsJudge(), [], before);
  expect(asked).toMatchObject([{ subject: "companion:wife", entities: ["Margery"], need: "hearing_loop", stance: "unsure" }]);
});

test.each([
  ["a place for my dad's 70th, he can't do stairs", "companion:father", [], "step_free"],
  ["for me and daughter Zosia, she is vegan", "companion:daughter", ["Zosia"], "vegan"],
])("'he' and 'she' are who was named on the way: %s", async (text, subject, entities, need) => {
  expect(await read(text)).toMatchObject([{ subject, entities, need, stance: "stated" }]);
});

test.each([
  ["Marco himself can't have kiwi", "companion:Marco", "other"],
  ["callum doesnt eat eggs", "companion:callum", "other"],
  ["Dad can't have nuts", "companion:father", "no_nuts"],
  ["Maman est végétarienne", "companion:mother", "vegetarian"],
  ["Mama ist vegan", "companion:mother", "vegan"],
  ["My wife's brother uses a wheelchair", "companion:brother", "step_free"],
  ["mein kumpel Deniz isst halal", "companion:kumpel", "halal"],
])("what is told of a name, or of a friend, is asked of them and is never the guest's: %s", async (text, subject, need) => {
  expect(await readAlone(text, new WordsJudge())).toMatchObject([{ subject, need, stance: "unsure" }]);
});

test.each([
  ["Really can't eat nuts"],
  ["Literally can't eat nuts"],
  ["Gluten is a no"],
  ["Everyone is vegan"],
  ["According to my colleague I can't have nuts"],
])("what begins with no name is nobody else's: %s", async (text) => {
  expect(await readAlone(text, new WordsJudge())).toMatchObject([{ subject: "self", strength: "hard" }]);
});

test.each([
  ["callum cant eat egg, the rest of us are fine", "no_egg"],
  ["Ruth and Tom can't have nuts", "no_nuts"],
  ["My carer comes with me, she uses a wheelchair", "step_free"],
])("what is told of somebody unknown is never the guest's without a question: %s", async (text, need) => {
  expect(await readAlone(text, new WordsJudge())).toMatchObject([{ need, stance: "unsure" }]);
});

const called = (name: string, relation: string): Memory => ({
  ...sampleMemory({ text: `${name} loves opera`, subject: `companion:${relation}` }),
  entities: [name],
  source,
});

test.each([
  ["My wife loves the theatre. We may go. She is allergic to nuts.", called("May", "daughter"), "companion:wife"],
  ["My husband is deaf. We will come. He is diabetic.", called("Will", "son"), "companion:husband"],
])("a name is no other word: %s", async (text, known, subject) => {
  const hard = (await read(text, [known])).filter(({ strength }) => strength === "hard");
  expect(new Set(hard.map((memory) => memory.subject))).toEqual(new Set([subject]));
});

test("who is known by name is sure, whatever was said before", async () => {
  const [leo] = await read("Leo is allergic to walnuts", [called("Leo", "son")], ["Tickets for Friday?"]);
  expect(leo).toMatchObject({ subject: "companion:son", need: "no_nuts", stance: "stated" });
});

test("a name leads into a need, with words between", async () => {
  expect(await read("Hannah has a proper peanut allergy, the rest of us eat all")).toMatchObject([
    { subject: "companion:Hannah", need: "no_nuts", stance: "unsure" },
  ]);
});

test.each([
  ["She's vegan", [dad]],
  ["They're wheelchair accessible", [dad]],
  ["My wife is coming. He's allergic to nuts", []],
  ["My wife loves Tian. Their menu is vegan", []],
  ["My son is coming. My boss joins us. He is allergic to nuts", []],
  ["My husband is coming. Tom from work is joining. He's allergic to nuts", []],
])("what is not said of somebody known is no need of theirs: %s", async (text, known) => {
  const stated = (await read(text, known)).filter(({ strength, stance }) => strength === "hard" && stance === "stated");
  expect(stated).toEqual([]);
});

test.each(["He's a wheelchair user", "No stairs for him, please", "Moi, pas de noix pour elle"])(
  "what is said of somebody whom nobody named is no need of the guest's: %s",
  async (text) => {
    expect((await read(text)).filter(({ subject, stance }) => subject === "self" && stance === "stated")).toEqual([]);
  },
);

test.each([
  ["My wife and son are coming. They are both allergic to nuts.", "no_nuts", "unsure"],
  ["Ma mère vient avec nous. Elle est en fauteuil roulant.", "step_free", "stated"],
  ["My wife is coming. The late show is best. She uses a wheelchair.", "step_free", "stated"],
  ["My wife is coming. My colleague recommended it. She uses a wheelchair.", "step_free", "unsure"],
  ["Coming with Anna on Friday. She's allergic to nuts.", "no_nuts", "stated"],
])("what must hold is kept, or asked about: %s", async (text, need, stance) => {
  expect(await read(text)).toEqual([expect.objectContaining({ need, strength: "hard", stance })]);
});

test.each([
  ["Meine Frau kommt mit. Bitte achten Sie auf meine Nussallergie.", "no_nuts"],
  ["Meine Frau kommt mit. Ein Tipp für Sie: keine Nüsse.", "no_nuts"],
  ["Last time they forgot, no nuts", "no_nuts"],
  ["They forgot last time, no nuts", "no_nuts"],
  ["Bitte beachten Sie, keine Nüsse", "no_nuts"],
  ["bitte achten sie auf meine nussallergie", "no_nuts"],
  ["My wife is coming. Last time they forgot, no nuts", "no_nuts"],
])("a pronoun of whom the guest speaks to, or of nobody, takes nothing from the guest: %s", async (text, need) => {
  expect(await read(text)).toEqual([expect.objectContaining({ subject: "self", need, strength: "hard", stance: "stated" })]);
});

test.each([
  ["My wife is coming. Sadly she can't have nuts.", "companion:wife", "no_nuts"],
  ["My parents are coming. Sadly they can't have nuts.", "companion:parents", "no_nuts"],
  ["Meine Frau kommt mit. Leider verträgt sie keine Nüsse.", "companion:wife", "no_nuts"],
  ["My wife is coming. At home she uses a wheelchair.", "companion:wife", "step_free"],
])("a pronoun behind the beginning is whoever was named last: %s", async (text, subject, need) => {
  expect(await read(text)).toEqual([expect.objectContaining({ subject, need, strength: "hard" })]);
});

test.each([
  ["My wife eats everything except shellfish", { subject: "companion:wife", need: "no_shellfish", stance: "unsure" }],
  ["uno di noi, Teo, è vegano convinto, gli altri tutto", { subject: "companion:Teo", need: "vegan", stance: "stated" }],
  ["Ma belle-mère, Solange, se déplace avec un déambulateur", { subject: "companion:mother-in-law", need: "step_free" }],
  ["My friend Ola uses a guide dog", { subject: "companion:friend", entities: ["Ola"], need: "assistance_dog", stance: "unsure" }],
  ["Wait, it's Beth with the peanuts", { subject: "companion:Beth", need: "no_nuts", stance: "unsure" }],
  ["Pilar es celíaca, así que el desayuno sin gluten, por favor", { subject: "companion:Pilar", need: "no_gluten", stance: "unsure" }],
  [
    "Meine Frau kommt mit, bitte keine Nüsse für sie in meiner Buchung",
    { subject: "companion:wife", need: "no_nuts", text: "Wife: bitte keine Nüsse für sie in meiner Buchung" },
  ],
])("a need is whose it is said to be, by a name too: %s", async (text, memory) => {
  expect(await read(text)).toEqual([expect.objectContaining({ ...memory, strength: "hard" })]);
});

test.each([
  ["I'm coeliac and eat everything except shellfish", "self", ["no_gluten/stated", "no_shellfish/unsure"]],
  ["I'm allergic to nuts and can eat everything except shellfish", "self", ["no_nuts/stated", "no_shellfish/unsure"]],
  ["I use a wheelchair and eat anything except nuts", "self", ["step_free/stated", "no_nuts/unsure"]],
  ["My daughter is in a wheelchair and eats everything except nuts", "companion:daughter", ["step_free/stated", "no_nuts/unsure"]],
  ["I'm vegan and can have anything except soy", "self", ["vegan/stated", "no_soy/unsure"]],
  ["It's Beth with the nuts and the wheelchair", "companion:Beth", ["no_nuts/unsure", "step_free/unsure"]],
])("what is left out or pointed out is asked about beside what must hold: %s", async (text, subject, needs) => {
  const hard = (await read(text)).filter(({ strength }) => strength === "hard");
  expect(hard.map(({ need, stance }) => `${need}/${stance}`)).toEqual(needs);
  expect(new Set(hard.map((memory) => memory.subject))).toEqual(new Set([subject]));
});

test.each([
  "Könnten Sie bitte in der Küche meine Nussallergie für sie notieren",
  "Bitte sagen Sie der Küche von meiner Nussallergie für sie",
  "Bitte schreiben Sie in meine Buchung keine Nüsse für ihn",
  "Please tell the chef about my nut allergy for her menu",
  "Je viens avec ma femme. Merci de signaler au chef mon allergie aux noix pour lui",
  "My wife is coming. Please tell the chef about my nut allergy for her menu",
])("the guest's own stays theirs, for whomever it is told: %s", async (text) => {
  expect(await read(text)).toEqual([expect.objectContaining({ subject: "self", need: "no_nuts", strength: "hard" })]);
});

test.each([
  ["Meine Frau kommt mit. Bitte keine Nüsse für sie in meiner Buchung", "wife"],
  ["My wife is coming. Please no nuts for her in my booking", "wife"],
])("what is to be for somebody who was named is asked of them: %s", async (text, relation) => {
  expect(await read(text)).toEqual([expect.objectContaining({ subject: `companion:${relation}`, need: "no_nuts", stance: "unsure" })]);
});

test.each([
  ["Leo can only use step-free entrances", "Leo", "step_free"],
  ["Pelle can not have milk", "Pelle", "no_lactose"],
  ["Sam hasn't got a wheelchair", "Sam", "step_free"],
])("a name before what somebody can or hasn't is whose need is asked about: %s", async (text, name, need) => {
  const judged = await readAlone(text, new WordsJudge());
  expect(judged).toEqual([expect.objectContaining({ subject: `companion:${name}`, need, stance: "unsure" })]);
});

test.each(["According to my friend Ola I react to nuts", "According to my friend Ola, I react to nuts"])(
  "what a friend says of the guest is no need of the friend's: %s",
  async (text) => {
    expect(await readAlone(text, new WordsJudge())).toEqual([
      expect.objectContaining({ subject: "self", need: "no_nuts", strength: "hard" }),
    ]);
  },
);

test.each([
  ["Never more than 60 for a ticket", "Never more than 60 for a ticket"],
  ["I never spend more than 60, except for football, in Vienna", "I never spend more than 60, except for football, in Vienna"],
])("a limit is of money, with what narrows it down: %s", async (text, told) => {
  expect(await read(text)).toEqual([expect.objectContaining({ text: told, category: "budget" })]);
});
