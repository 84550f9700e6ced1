import { describe, expect, test } from "vitest";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { ownerOf } from "../../src/domain/owner.js";
import { needTalkOf, needWordsOf } from "../../src/languages/need-talk.js";
import { Coverage } from "../../src/memories/coverage.js";
import type { MessageReader } from "../../src/ports/extraction.js";
import { SLOW } from "../support/projects.js";
import { standInReader } from "../support/stand-in.js";
import languages from "./plain-needs.json" with { type: "json" };

/*
 * Plain sentences of a need, in every language that the stand-in claims, of the guest, of whoever comes along, denied and asked: as the
 * stand-in reads them, by rules alone and with its judge, and as the guest is asked about what it leaves. `{…|…}` in the table: of a man,
 * of a woman. Of Japanese, which the stand-in doesn't claim, the guest is asked by the domain's needs alone. A need's line: its name,
 * what the guest says, what is said of others, both denied; `f` behind the name: of women alone.
 */

interface Spoken {
  readonly hello: string;
  readonly men: readonly string[];
  readonly women: readonly string[];
  readonly requests: readonly string[];
  readonly needs: readonly string[];
  readonly bare: readonly string[];
  readonly asked: readonly string[];
  readonly things: readonly string[];
}

type Expected = "own" | "theirs" | "none" | "not stated";
interface Said {
  readonly text: string;
  readonly need: string;
}

const coverage = new Coverage(CONCIERGE_NEEDS, needTalkOf(needWordsOf(CONCIERGE_NEEDS)));
const MESSAGE = {
  owner: ownerOf("default", "ann"),
  session_id: "s",
  turn: 3,
  message_id: "m",
  stated_at: new Date("2026-03-11T10:00:00Z"),
  time_zone: "UTC",
  context: [],
  known: [],
};
/** Made once: a reader's words are many. */
const READERS = { rules: standInReader(null), judge: standInReader(new WordsJudge()) };

const isUnspaced = ({ hello }: Spoken) => hello.endsWith("。");
const stop = (spoken: Spoken) => (isUnspaced(spoken) ? "。" : ". ");
const comma = (spoken: Spoken) => (isUnspaced(spoken) ? "、" : ", ");
const sentence = (text: string) => text.replace(/\p{L}/u, (letter) => letter.toUpperCase());
const lower = (text: string, { needs }: Spoken) =>
  needs[0]?.startsWith("step_free / I ") === true ? text : text.charAt(0).toLowerCase() + text.slice(1);
const gendered = (text: string, isWoman: boolean) =>
  text.replaceAll(/\{([^{}|]*)\|([^{}|]*)\}/gu, (_, man, woman) => (isWoman ? woman : man));

function needsOf({ needs }: Spoken) {
  return needs.map((line, at) => {
    const [head = "", own = "", theirs = "", notOwn = "", notTheirs = ""] = line.split(" / ");
    const [need = "", who] = head.split(" ");
    return { need, women: who === "f", own, theirs, notOwn, notTheirs, at };
  });
}

/** In front of a request, behind it, and without one. */
function around(text: string, spoken: Spoken, at: number): readonly string[] {
  const request = spoken.requests[at % spoken.requests.length] ?? "";
  return [`${text}${stop(spoken)}${sentence(request)}`, `${sentence(request)}${isUnspaced(spoken) ? "" : " "}${text}`];
}

function saidOf(spoken: Spoken): Readonly<Record<string, readonly Said[]>> {
  const person = (at: number, women: boolean) => {
    const isWoman = women || at % 2 === 0;
    const people = isWoman ? spoken.women : spoken.men;
    return { isWoman, who: people[Math.floor(at / 2) % people.length] ?? "" };
  };
  const space = isUnspaced(spoken) ? "" : " ";
  const all = needsOf(spoken);
  return {
    "a guest's own": [
      ...all.flatMap(({ need, women, own, at }) => {
        const [man, woman] = [gendered(own, false), gendered(own, true)];
        const texts = [...new Set(women ? [woman] : [man, woman])];
        const [last = ""] = texts.slice(-1);
        const request = spoken.requests[at % spoken.requests.length] ?? "";
        const greeted = isUnspaced(spoken) ? `${spoken.hello}${last}` : `${spoken.hello}, ${lower(last, spoken)}`;
        return [...texts, ...around(last, spoken, at), greeted, `${last}${comma(spoken)}${request}`].map((text) => ({ need, text }));
      }),
      ...spoken.bare.map((line) => ({ need: line.split(" / ")[0] ?? "", text: line.split(" / ")[1] ?? "" })),
    ],
    "another's": all.flatMap(({ need, women, theirs, at }) => {
      const people = Array.from({ length: 10 }, (_, place) => person(place, women));
      const of = ({ who, isWoman }: (typeof people)[number]) => `${who}${space}${gendered(theirs, isWoman)}`;
      const one = people[at % people.length] ?? person(0, women);
      return [...new Set(people.map(of)), ...around(of(one), spoken, at)].map((text) => ({ need, text }));
    }),
    denied: all.flatMap(({ need, women, notOwn, notTheirs, at }) => {
      const people = [0, 1, 2].map((place) => person(at + place, women));
      return [
        gendered(notOwn, true),
        `${gendered(notOwn, true)}${stop(spoken)}${sentence(spoken.requests[at % spoken.requests.length] ?? "")}`,
        ...people.map(({ who, isWoman }) => `${who}${space}${gendered(notTheirs, isWoman)}`),
      ].map((text) => ({ need, text }));
    }),
    asked: spoken.asked.flatMap((text) => [
      { need: "", text },
      { need: "", text: isUnspaced(spoken) ? `${spoken.hello}${text}` : `${spoken.hello}! ${text}` },
    ]),
    "a thing's": spoken.things.map((text) => ({ need: "", text })),
  };
}

interface Hard {
  readonly need: string | null;
  readonly subject: string | null;
  readonly stance: string;
}

async function hardOf(text: string, reader: MessageReader): Promise<readonly Hard[]> {
  const message = { ...MESSAGE, text };
  const { operations, over = [] } = await reader.read(message, { signal: new AbortController().signal });
  const left = coverage.uncovered(message, operations, { hardOnly: true, over });
  const read = operations.filter(({ op, strength }) => op === "add" && strength === "hard");
  return [...read, ...left.map(({ need, subject }) => ({ need, subject, stance: "by name" }))];
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  "a guest's own": "own",
  "another's": "theirs",
  denied: "none",
  asked: "none",
  "a thing's": "not stated",
};

function isAsExpected(hard: readonly Hard[], need: string, expected: Expected): boolean {
  const isOwn = ({ subject }: Hard) => subject === "self" || subject === null;
  const named = hard.filter((each) => each.need === need);
  if (expected === "none") return hard.length === 0;
  if (expected === "not stated") return hard.every(({ stance }) => stance !== "stated");
  if (expected === "own") return named.some(isOwn) && hard.every(isOwn);
  return named.length > 0 && !hard.some(isOwn);
}

type InLanguage = [name: string, spoken: Spoken];
const LANGUAGES: readonly InLanguage[] = Object.entries(languages);
const isShownFirst = ([name]: InLanguage) => name === "en" || name === "de";

function readsItsNeeds(_: string, spoken: Spoken): void {
  test.each(Object.entries(saidOf(spoken)))("%s needs are read so", async (kind, said) => {
    const wrong: string[] = [];
    for (const { need, text } of said)
      for (const [by, reader] of Object.entries(READERS)) {
        const hard = await hardOf(text, reader);
        if (isAsExpected(hard, need, EXPECTED[kind] ?? "none")) continue;
        wrong.push(`${by}: ${text} (${need}) → ${hard.map((each) => `${each.need} ${each.subject} ${each.stance}`).join("; ")}`);
      }
    expect(wrong).toEqual([]);
  });
}

describe.each(LANGUAGES.filter(isShownFirst))("in %s", readsItsNeeds);
describe.each(LANGUAGES.filter((each) => !isShownFirst(each)))("in %s", { tags: [SLOW] }, readsItsNeeds);

/** Beside what is denied or asked something holds all the same: each is kept, or asked about. */
const STILL: readonly (readonly [text: string, need: string])[] = [
  ["I can climb stairs but my wife can't climb stairs", "step_free"],
  ["I can eat gluten free bread", "no_gluten"],
  ["I can't eat eggs", "no_egg"],
  ["no soy", "no_soy"],
  ["No soy, no nuts", "no_soy"],
  ["im vegan", "vegan"],
  ["Ich bin nicht vegan, aber ich esse keine Nüsse", "no_nuts"],
  ["Ich vertrage Gluten nicht", "no_gluten"],
  ["Wir suchen ein veganes Restaurant, ich bin Veganer", "vegan"],
  ["Zwei Plätze für Samstag, ohne Stufen bitte", "step_free"],
  ["Je ne suis pas végane mais je ne mange pas d'œufs", "no_egg"],
  ["No soy vegana, soy celíaca", "no_gluten"],
  ["No puedo comer huevos", "no_egg"],
  ["Non sono vegana, sono celiaca", "no_gluten"],
  ["Non è vegana mia figlia, è allergica alle noci", "no_nuts"],
  ["Não sou vegana, sou alérgica a nozes", "no_nuts"],
  ["Ik ben niet vegan maar ik eet geen eieren", "no_egg"],
  ["Nie jestem weganką, ale nie jem jajek", "no_egg"],
  ["Mamy alergię na orzechy", "no_nuts"],
  ["ナッツ以外のアレルギーはありません", "no_nuts"],
  ["卵は食べられません", "no_egg"],
  ["肉は食べられます、卵は食べられません", "no_egg"],
  ["Which dishes can I eat with a nut allergy?", "no_nuts"],
  ["Mijn man moet koosjer eten", "kosher"],
];

test.each(STILL)("what holds all the same is kept or asked about: %s", async (text, need) => {
  for (const reader of Object.values(READERS)) expect((await hardOf(text, reader)).map((each) => each.need)).toContain(need);
});

test.each([
  ["Das ist doof", []],
  ["We ate at Lake Como", []],
  ["Mamy alergię na orzechy", ["self"]],
] as const)("what a word means elsewhere is nobody's need, nor anybody: %s", async (text, whose) => {
  for (const reader of Object.values(READERS)) expect((await hardOf(text, reader)).map(({ subject }) => subject)).toEqual(whose);
});

test.each([
  "Ich bin nicht allergisch gegen Nüsse, nur gegen Mandeln",
  "Ich bin nicht allergisch gegen Nüsse, meine Frau schon",
  "Ich gehe nicht ohne Krücken",
  "Je ne mange que halal",
  "Oi moça, camarão nem pensar viu? Da última vez fui parar na UPA",
])("what no rule reads, and denies no need, is asked about: %s", async (text) => {
  expect(await hardOf(text, READERS.judge)).toEqual([expect.objectContaining({ stance: "unsure" })]);
});

test.each([
  // Before what it asks it tells of a need.
  ["Allergia alle noci, avete qualcosa?"],
  ["Con silla de ruedas, ¿se puede?"],
  ["Senza glutine per celiaca, è possibile?"],
  // An allergy is somebody's.
  ["Avete qualcosa con allergia alle noci?"],
  // French denies with "ne" alone, too.
  ["Je ne peux manger de gluten"],
  ["Je ne peux prendre les escaliers"],
  // Denied twice.
  ["I'm not not allergic to nuts"],
  // It isn't here: theirs it is all the same.
  ["Je n'ai pas mon fauteuil roulant avec moi"],
  ["Ich habe meinen Rollstuhl nicht"],
  ["Não tenho muletas comigo"],
  // The next words tell who has it.
  ["Ich bin nicht vegan. Meine Frau schon."],
  ["No soy vegana. Mi hija sí."],
  ["My wife can eat eggs. I can't."],
])("what sounds like no need, and may be one, is asked about: %s", async (text) => {
  expect((await hardOf(text, READERS.judge)).length).toBeGreaterThan(0);
});

test("what is denied before a request stays denied", async () => {
  for (const text of ["Ich bin nicht vegan. Bitte zwei Plätze.", "I'm not vegan. We'd like a table for two."])
    expect(await hardOf(text, READERS.judge)).toEqual([]);
});
