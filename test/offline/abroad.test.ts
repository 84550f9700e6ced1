import { expect, test } from "vitest";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { WordsJudge } from "../../packages/offline/src/learnt/sentence-judge.js";
import { ownerOf } from "../../src/domain/owner.js";
import { needTalkOf, needWordsOf } from "../../src/languages/need-talk.js";
import { Coverage } from "../../src/memories/coverage.js";
import type { ProposedOperation } from "../../src/ports/extraction.js";
import { readAlone, readingOf, readKnowing } from "../support/read-alone.js";

/*
 * What must hold, told in other languages than English: whose it is, what is over, and what is asked.
 */

const judge = new WordsJudge();
const coverage = new Coverage(CONCIERGE_NEEDS, needTalkOf(needWordsOf(CONCIERGE_NEEDS)));
const UNREAD = {
  owner: ownerOf("default", "ann"),
  session_id: "s",
  turn: 1,
  message_id: "m",
  stated_at: new Date("2026-03-11T10:00:00Z"),
  time_zone: "UTC",
  context: [],
  known: [],
};
const hardOf = (operations: readonly ProposedOperation[]) => operations.filter(({ strength, op }) => strength === "hard" && op === "add");
const shown = ({ subject, stance, need, text }: ProposedOperation) => `${stance} ${need} ${subject}: ${text}`;

interface Spoken {
  /** With what says whose, by what the sentences below call them. */
  readonly men: string;
  readonly women: string;
  /** `{…|…}`: of a man, of a woman. */
  readonly needs: readonly string[];
}

/** Of everybody who comes along with a guest. */
const SPOKEN: Readonly<Record<string, Spoken>> = {
  de: {
    men: "mein Mann, mein Vater, mein Sohn, mein Bruder, mein Opa, mein Onkel, mein Neffe, mein Schwager, mein Schwiegervater, mein Enkel",
    women:
      "meine Frau, meine Mutter, meine Tochter, meine Schwester, meine Oma, meine Tante, meine Cousine, meine Nichte, meine Schwägerin, meine Enkelin",
    needs: ["{P} ist allergisch gegen Nüsse", "{P} braucht einen Rollstuhl", "ich komme mit {p}, {er|sie} ist vegan"],
  },
  fr: {
    men: "mon mari, mon père, mon fils, mon frère, mon grand-père, mon oncle, mon neveu, mon beau-frère, mon beau-père, mon petit-fils, mon mec, papi",
    women: "ma femme, ma mère, ma fille, ma sœur, ma grand-mère, ma tante, ma cousine, ma nièce, ma belle-sœur, ma belle-mère, ma meuf",
    needs: [
      "{P} est allergique aux noix",
      "{P} utilise un fauteuil roulant",
      "{P} ne peut pas monter les escaliers",
      "je viens avec {p}, {il|elle} est vegan",
    ],
  },
  es: {
    men: "mi marido, mi padre, mi hijo, mi hermano, mi abuelo, mi tío, mi primo, mi sobrino, mi cuñado, mi suegro, mi nieto, mi novio",
    women: "mi mujer, mi madre, mi hija, mi hermana, mi abuela, mi tía, mi prima, mi sobrina, mi cuñada, mi suegra, mi nieta, mi novia",
    needs: ["{P} es {alérgico|alérgica} a las nueces", "{P} usa silla de ruedas", "voy con {p}, {él|ella} es {vegano|vegana}"],
  },
  it: {
    men: "mio marito, mio padre, mio figlio, mio fratello, mio nonno, mio zio, mio cugino, mio nipote, mio cognato, mio suocero, il mio ragazzo",
    women: "mia moglie, mia madre, mia figlia, mia sorella, mia nonna, mia zia, mia cugina, mia cognata, mia suocera, la mia ragazza",
    needs: ["{P} è {allergico|allergica} alle noci", "{P} usa la sedia a rotelle", "vengo con {p}, {lui|lei} è {vegano|vegana}"],
  },
  pt: {
    men: "o meu marido, o meu pai, o meu filho, o meu irmão, o meu avô, o meu tio, o meu primo, o meu sobrinho, o meu cunhado, o meu namorado",
    women:
      "a minha mulher, a minha mãe, a minha filha, a minha irmã, a minha avó, a minha tia, a minha prima, a minha sobrinha, a minha cunhada",
    needs: ["{P} é {alérgico|alérgica} a nozes", "{P} usa cadeira de rodas", "vou com {p}, {ele|ela} é {vegano|vegana}"],
  },
  nl: {
    men: "mijn man, mijn vader, mijn zoon, mijn broer, mijn opa, mijn oom, mijn neef, mijn zwager, mijn schoonvader, mijn vriend, mn broertje",
    women: "mijn vrouw, mijn moeder, mijn dochter, mijn zus, mijn oma, mijn tante, mijn nichtje, mijn schoonzus, m'n vriendin, mn zusje",
    needs: ["{P} is allergisch voor noten", "{P} gebruikt een rolstoel", "ik kom met {p}, {hij|zij} is vegan"],
  },
  pl: {
    men: "mój mąż, mój ojciec, mój syn, mój brat, mój dziadek, mój wujek, mój kuzyn, mój szwagier, mój teść, mój wnuk, mój chłopak",
    women: "moja żona, moja matka, moja córka, moja siostra, moja babcia, moja ciocia, moja kuzynka, moja teściowa, moja wnuczka",
    needs: ["{P} ma alergię na orzechy", "{P} jest na wózku", "Będzie {p}, {on|ona} jest {weganinem|weganką}"],
  },
};

const sentencesOf = ({ men, women, needs }: Spoken) =>
  [men, women].flatMap((people, gender) =>
    people.split(", ").flatMap((person) =>
      needs.map((need) =>
        need
          .replaceAll(/\{([^{}|]+)\|([^{}|]+)\}/g, (_, man, woman) => (gender === 0 ? man : woman))
          .replace("{P}", person.charAt(0).toUpperCase() + person.slice(1))
          .replace("{p}", person),
      ),
    ),
  );

test.each(Object.entries(SPOKEN))("in %s a need of anybody's who comes along is theirs", async (_, spoken) => {
  const wrong: string[] = [];
  for (const sentence of sentencesOf(spoken)) {
    const hard = hardOf(await readAlone(sentence, judge));
    if (hard.length === 0 || hard.some(({ subject }) => subject === "self")) wrong.push(`${sentence} → ${hard.map(shown).join("; ")}`);
  }
  expect(wrong).toEqual([]);
});

test.each([
  ["de", "Ich bin Veganerin", "vegan"],
  ["de", "Bitte keine Nüsse", "no_nuts"],
  ["de", "ich sitze im Rollstuhl, meine Frau nicht", "step_free"],
  ["fr", "Je suis allergique aux arachides", "no_nuts"],
  ["fr", "sans gluten svp", "no_gluten"],
  ["es", "soy celíaca", "no_gluten"],
  ["es", "Yo no puedo comer marisco", "no_shellfish"],
  ["it", "Sono vegano", "vegan"],
  ["it", "ah e io niente sesamo", "no_sesame"],
  ["pt", "Sou alérgica a amendoim", "no_nuts"],
  ["pt", "Sem glúten, por favor, eu sou celíaco", "no_gluten"],
  ["nl", "Ik ben allergisch voor noten", "no_nuts"],
  ["nl", "Ik gebruik een rolstoel", "step_free"],
  ["pl", "Jestem weganką", "vegan"],
  ["pl", "Mam alergię na orzechy", "no_nuts"],
  ["pl", "Nie słyszę dobrze, noszę aparat słuchowy.", "hearing_loop"],
])("what a guest says of themselves holds, in %s: %s", async (_, text, need) => {
  const hard = hardOf(await readAlone(text));
  expect(hard).toContainEqual(expect.objectContaining({ need, subject: "self", stance: "stated" }));
  expect(hard.filter(({ subject }) => subject !== "self")).toEqual([]);
});

test.each([
  ["de", "Meine Nichte kommt auch mit, bitte keine Nüsse"],
  ["de", "Meine Nichte kommt auch mit. Bitte keine Nüsse."],
  ["de", "Mein Nachbar und seine Kinder sind vegan"],
  ["fr", "On vient avec papi, fauteuil roulant"],
  ["fr", "C'est pour Inès, sans arachides"],
  ["es", "Voy con Rosa, no puede comer nueces"],
  ["es", "Viene mi cuñada. Sin gluten, por favor."],
  ["it", "Vado con Anna. È celiaca."],
  ["it", "Siamo con mia zia, senza glutine"],
  ["it", "I miei suoceri sono vegetariani"],
  ["pt", "Vou com a minha namorada Rita, ela é alérgica a camarão e marisco em geral"],
  ["pt", "Vou com a Rita, sem marisco"],
  ["nl", "we zijn met zn vijven, mn zus Femke is zwanger en wordt misselijk als het schommelt"],
  ["nl", "mijn vriend gaat mee, zonder noten graag"],
  ["pl", "dla mnie i męża Andrzeja, on jest niedowidzący więc pierwszy rząd"],
  ["pl", "Przyjdę z żoną, bez orzechów"],
])("what may be somebody else's is never the guest's without a question, in %s: %s", async (_, text) => {
  for (const by of [judge, null])
    expect(hardOf(await readAlone(text, by)).filter(({ subject, stance }) => subject === "self" && stance === "stated")).toEqual([]);
});

test.each([
  ["Ma sœur vient avec nous, fauteuil roulant", "companion:sister", "step_free"],
  ["Vado con Anna. È celiaca.", "companion:Anna", "no_gluten"],
  ["Wir kommen mit Onkel Karl, keine Nüsse", "companion:uncle", "no_nuts"],
])("what stands behind somebody is asked as theirs: %s", async (text, subject, need) => {
  expect(hardOf(await readAlone(text, judge))).toEqual([expect.objectContaining({ subject, need, stance: "unsure" })]);
});

test.each([
  ["jürgen hört schlecht, hat hörgeräte auf beiden seiten", "zu zweit, mein mann jürgen und ich", "companion:husband"],
  ["carmen lleva silla de ruedas", "quiero ir al teatro con mi abuela carmen en madrid", "companion:grandmother"],
])("a name in small letters is whose the relation before it was: %s", async (text, before, subject) => {
  const [hard, ...more] = hardOf(await readAlone(text, judge, [], [before]));
  expect(hard).toMatchObject({ subject, stance: "unsure" });
  expect(more.filter((each) => each.subject === "self")).toEqual([]);
});

test("a need that is none of the domain's holds by no sentence of the guest's", async () => {
  const text = "Mijn zus Femke is zwanger en wordt misselijk als de boot schommelt";
  expect(hardOf(await readAlone(text, judge))).toMatchObject([{ need: "other", subject: "companion:sister", stance: "unsure" }]);
});

/** What of a message nobody read, and the guest is asked by the need's name. */
const asksBy = async (text: string) => {
  const { over = [] } = await readingOf(text, judge);
  const message = { ...UNREAD, text };
  return coverage.uncovered(message, [], { over }).map(({ need, subject }) => `${need} ${subject}`);
};

const OVER = [
  "früher hab ich kein laktose vertragen aber das ist seit jahren vorbei, also frühstück egal",
  "Früher war ich Vegetarier, das ist vorbei",
  "Ich bin nicht mehr vegan",
  "Avant je mangeais sans gluten mais plus maintenant",
  "Je ne suis plus végétarien",
  "Yo antes llevaba bastón pero ya no me hace falta, así que la visita a pie sin problema",
  "Ya no soy vegano",
  "Dejé de ser vegetariana, ya como de todo",
  "J'étais vegan avant, c'est fini",
  "Prima ero vegetariano, adesso non più",
  "Antes eu era vegetariano, mas já não sou",
  "Vroeger at ik glutenvrij maar dat hoeft niet meer",
  "Kiedyś byłam wegetarianką, ale już nie",
];

test.each(OVER)("what is over is asked about no more: %s", async (text) => {
  expect(hardOf(await readAlone(text, judge))).toEqual([]);
  expect(await asksBy(text)).toEqual([]);
});

test("of what is over in Japanese nobody is asked either", async () => {
  expect(await asksBy("昔はベジタリアンでしたが、もうベジタリアンではない")).toEqual([]);
  expect(await asksBy("母は車いすです")).toEqual(["step_free companion:mother"]);
  expect(await asksBy("昔は歩けましたが、今は車いすです")).toEqual(["step_free null"]);
});

test.each([
  ["Früher konnte ich Treppen steigen, jetzt kann ich keine Treppen mehr", "step_free"],
  ["Je ne peux plus marcher, je suis en fauteuil roulant", "step_free"],
  ["Früher war ich Veganer und heute kann ich keine Nüsse essen, das ist vorbei", "no_nuts"],
  ["Ich bin nicht mehr Vegetarier sondern vegan", "other"],
  ["Ich gehe nicht mehr ohne Rollator", "step_free"],
  ["Antes no usaba bastón, ahora no salgo sin bastón", "other"],
  ["Ik ben vroeger vegetariër geweest, nu eet ik geen noten meer", "no_nuts"],
  ["Ich war früher nicht allergisch, jetzt vertrage ich keine Nüsse", "no_nuts"],
])("what can be done no more is a need: %s", async (text, need) => {
  const asked = [
    ...hardOf(await readAlone(text, judge)).map((each) => each.need),
    ...(await asksBy(text)).map((each) => each.split(" ")[0]),
  ];
  expect(asked).toContain(need);
});

test("what is known and over is asked about, in the guest's language", async () => {
  const known = await readKnowing("Soy vegano", judge);
  expect(await readAlone("ya no soy vegano", judge, known)).toMatchObject([{ op: "end", target_id: known[0]?.id, stance: "unsure" }]);
});

test("of a sentence that a rule did not read the guest is asked by the need's name", async () => {
  const text = "uff yo con el marisco me hincho como un globo, ni una gamba";
  expect(hardOf(await readAlone(text, judge))).toEqual([expect.objectContaining({ text: "No shellfish (marisco)", stance: "unsure" })]);
});

test.each(["Den Rollstuhl brauche ich nicht mehr", "Ich brauche den Rollstuhl nicht mehr", "Ich bin nicht mehr so oft im Rollstuhl"])(
  "what may be over is asked about: %s",
  async (text) => {
    expect(hardOf(await readAlone(text, judge))).toEqual([expect.objectContaining({ need: "step_free", stance: "unsure" })]);
  },
);

test("whom the words name is not named again before them", async () => {
  const text = "A minha mãe já não consegue subir escadas";
  expect(hardOf(await readAlone(text, judge))).toEqual([expect.objectContaining({ text, subject: "companion:mother" })]);
});

/** What still holds though something else is over. */
const STILL: Readonly<Record<string, readonly (readonly [text: string, need: string, subject: string])[]>> = {
  de: [
    ["Ich hatte einen Unfall und bin im Rollstuhl, Laufen geht nicht mehr.", "step_free", "self"],
    ["Meine Mutter hatte einen Schlaganfall, sitzt im Rollstuhl und spricht nicht mehr.", "step_free", "companion:mother"],
    ["Ich war beim Arzt, ich bin schwanger und rauche nicht mehr.", "other", "self"],
    ["Wir waren letztes Jahr bei euch, ich sitze im Rollstuhl und das Parkett geht nicht mehr.", "step_free", "self"],
    ["Ich komme nicht mehr aus dem Rollstuhl raus", "step_free", "self"],
    ["Ich bin nicht mehr vegan, ich bin im Rollstuhl", "step_free", "self"],
  ],
  fr: [
    ["J'étais danseuse, je suis en fauteuil roulant, je ne danse plus du tout.", "step_free", "self"],
    ["avant le spectacle je précise: je suis en fauteuil roulant, le balcon c'est fini", "step_free", "self"],
    ["Avant je n'étais pas allergique aux noix, mais c'est fini", "no_nuts", "self"],
  ],
  es: [
    ["Antes de nada, soy celíaca, y ya no quedaba pan", "no_gluten", "self"],
    ["La cena era en casa, soy sorda y ya no uso teléfono", "hearing_loop", "self"],
    ["Mi madre tenía cáncer y usa silla de ruedas, ya no camina.", "step_free", "companion:mother"],
    ["Mi padre ya no deja la silla de ruedas", "step_free", "companion:father"],
    ["Antes no era alérgica a las nueces, pero eso se acabó", "no_nuts", "self"],
  ],
  it: [["Prima camminavo, sono in sedia a rotelle e adesso non lavoro più", "step_free", "self"]],
  nl: [
    ["Mijn vader had een beroerte, zit in een rolstoel en loopt niet meer.", "step_free", "companion:father"],
    ["Ik kom niet meer uit mijn rolstoel", "step_free", "self"],
  ],
  pt: [
    ["Tinha reservado para dois, sou celíaca, já não sei se avisei.", "no_gluten", "self"],
    ["Já não saio da cadeira de rodas", "step_free", "self"],
  ],
  pl: [
    ["Miałem wypadek i jeżdżę na wózku, już nie chodzę.", "step_free", "self"],
    ["Już nie wstaję z wózka", "step_free", "self"],
  ],
};

test.each(Object.entries(STILL).flatMap(([name, sentences]) => sentences.map((each) => [name, ...each] as const)))(
  "what else is over ends no need, in %s: %s",
  async (_, text, need, subject) => {
    const read = hardOf(await readAlone(text, judge)).map((each) => `${each.need} ${each.subject}`);
    expect([...read, ...(await asksBy(text))]).toContain(`${need} ${subject}`);
    expect(read).not.toEqual([]);
  },
);

test.each([
  "以前事故にあい、もう車椅子なので段差がない席がいいです",
  "昔は平気だったが、今は車椅子で、段差がない店がいい",
  "昔は車椅子でしたが、今は車椅子なので大丈夫ではない",
])("what else is over ends no need, in Japanese: %s", async (text) => expect(await asksBy(text)).toEqual(["step_free null"]));

test.each(["Ben is deaf", "Ben is blind", "Ben is coeliac", "Ben can't eat nuts"])(
  "a name is no word of another language: %s",
  async (text) => {
    const hard = hardOf(await readAlone(text, judge, [], ["My son is Ben"]));
    expect(hard).toEqual([expect.objectContaining({ subject: "companion:Ben", stance: "unsure" })]);
  },
);

test("an English name that is a Spanish pronoun makes no sentence Spanish", async () => {
  const hard = hardOf(await readAlone("Ella cant eat eggs", judge, [], ["My daughter is Ella"]));
  expect(hard).toEqual([expect.objectContaining({ subject: "companion:Ella", need: "no_egg", stance: "unsure" })]);
});

test.each([
  ["Mein Mann ist im Rollstuhl. Bitte ohne Nüsse, ich bin allergisch.", "no_nuts", "stated"],
  ["Mi marido usa silla de ruedas. Sin gluten, por favor.", "no_gluten", "unsure"],
  ["Mein Sohn kommt mit. Keine Erdnüsse bitte.", "no_nuts", "unsure"],
  ["Vamos con Rosa. Sin nueces.", "no_nuts", "unsure"],
])("a sentence that names nobody else stays the guest's own: %s", async (text, need, stance) => {
  expect(hardOf(await readAlone(text, judge)).filter((each) => each.need === need)).toEqual([
    expect.objectContaining({ subject: "self", stance }),
  ]);
});

test.each([
  ["Meine Frau ist Veganerin, ich habe eine Nussallergie", "no_nuts"],
  ["Ma femme est végane, et moi je suis coeliaque", "no_gluten"],
  ["Mi marido es vegano, y yo soy celíaca", "no_gluten"],
])('who says "I" in a clause of their own tells of themselves, whoever stands before: %s', async (text, need) => {
  expect(hardOf(await readAlone(text, judge))).toContainEqual(expect.objectContaining({ need, subject: "self", stance: "stated" }));
});

test.each([
  ["Jag är allergisk mot nötter", "no_nuts"],
  ["Min dotter är allergisk mot ägg", "no_egg"],
])("a need is asked about by its name, in whatever language and whatever else is denied: %s", async (text, need) => {
  expect(hardOf(await readAlone(text, judge))).toEqual([expect.objectContaining({ need, stance: "unsure" })]);
});
