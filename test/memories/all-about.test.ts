import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { textHash } from "../../src/domain/folded-text.js";
import { type Statement, statementSchema } from "../../src/domain/memory.js";
import type { MemoryRecord } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { CheckedOperation } from "../../src/memories/checked-operation.js";
import { changesOf } from "../../src/memories/proposed-change.js";
import { type ReconcileRules, reconcile } from "../../src/memories/reconcile.js";
import { approved } from "../../src/memories/waiting.js";
import { checked, type Proposal } from "../reading/message.js";

const owner = ownerOf("default", "ann");
const NOW = new Date("2026-03-11T10:00:00Z");
const rules: ReconcileRules = {
  now: NOW,
  minConfidence: 0.6,
  tombstones: [],
  hash: (text) => textHash(owner, text),
  categories: CONCIERGE_CATEGORIES,
};

type Known = Partial<Statement> & Pick<Statement, "text"> & { readonly quote?: string; readonly waits?: CheckedOperation["waits"] };

const hard = (text: string, more: Partial<Known> = {}): Known => ({
  text,
  category: "dietary",
  strength: "hard",
  need: "no_nuts",
  type: "constraint",
  about: "nuts",
  ...more,
});

function take(records: ReadonlyMap<string, MemoryRecord>, turn: number, text: string, operations: readonly CheckedOperation[]) {
  const said = { session_id: "s", turn, message_id: `m${turn}`, stated_at: new Date(NOW.getTime() + turn), channel: "api" };
  const { puts, forgotten } = reconcile(records.values(), changesOf(owner, said, operations, records), rules);
  const all = new Map([...records, ...puts.map((record) => [record.id, record] as const)]);
  for (const id of forgotten) all.delete(id);
  return { text, records: all };
}

/** What is left of what is known, and what is asked about, once the message was read as proposed. */
function left(known: readonly Known[], text: string, proposal: Proposal) {
  const operations = known.map(({ quote, waits = null, ...says }, index): CheckedOperation => {
    const statement = statementSchema.parse({ category: "other", ...says });
    return { op: "add", index, target_id: null, waits, brought_along: false, quote: quote ?? says.text, statement };
  });
  const { records: before } = take(new Map(), 1, "", operations);
  const { records } = take(before, 2, text, checked(text, [proposal], { known: [...before.values()] }).operations);
  const all = [...records.values()];
  return {
    kept: all.filter(({ pending_change }) => pending_change === null).map((record) => record.text),
    asked: all.filter(({ pending_change }) => pending_change?.op === "forget").map((record) => record.text),
    records,
  };
}

const MUM = "Forget what you know about my mum";
const aboutMum: Proposal = { op: "forget", quote: MUM, subject: "companion:mother", about: "my mum" };
const nuts = hard("Mother is allergic to nuts", { subject: "companion:mother" });
const opera: Known = { text: "Mother loves opera", subject: "companion:mother" };
const jazz: Known = { text: "Loves jazz", about: "jazz" };

describe("[forgotten-as-a-whole] to forget all about", () => {
  test("a person asks about all of it where one must hold, that one first", () => {
    const { kept, asked, records } = left([jazz, nuts, opera], MUM, aboutMum);
    expect([kept, asked.sort()]).toEqual([["Loves jazz"], ["Mother is allergic to nuts", "Mother loves opera"]]);
    const record = [...records.values()].find(({ text }) => text === nuts.text);
    expect(record && approved(records.values(), record, { ...rules, now: new Date(NOW.getTime() + 1_000) }).forgotten).toEqual([
      record?.id,
    ]);
  });

  test("a person takes what is soft at once", () => {
    expect(left([jazz, opera], MUM, aboutMum)).toMatchObject({ kept: ["Loves jazz"], asked: [] });
  });

  test("a person is one question, however much is known of them", () => {
    const more = ["opera", "jazz", "musicals", "dance", "circus", "magic"].map((what) => ({ ...opera, text: `Mother loves ${what}` }));
    expect(left([nuts, ...more], MUM, aboutMum)).toMatchObject({ kept: [], asked: { length: 7 } });
  });

  test("a person who is to be forgotten again is asked about whole again, however often it was asked before", () => {
    const { records } = left([hard("Mum is allergic to nuts", { subject: "companion:mother" })], MUM, aboutMum);
    const often = new Map(
      [...records].map(([id, record]) => [
        id,
        record.pending_change ? { ...record, pending_change: { ...record.pending_change, asked: 2 } } : record,
      ]),
    );
    const again = checked(MUM, [aboutMum], { known: [...often.values()] }).operations;
    const asked = [...take(often, 3, MUM, again).records.values()].map(({ pending_change }) => pending_change);
    expect(asked).toMatchObject([{ op: "forget", asked: 0, source: { message_id: "m3" } }]);
    const same = take(often, 2, MUM, again).records;
    expect([...same.values()].map(({ pending_change }) => pending_change?.asked)).toEqual([2]);
  });

  test("a person known by name and relation takes both along", () => {
    const daughter = hard("Daughter Emma is vegan", {
      subject: "companion:daughter",
      entities: ["Emma"],
      need: "vegan",
      about: "vegan",
      quote: "my daughter Emma is vegan",
    });
    const text = "Forget what you know about Emma";
    const proposal: Proposal = { op: "forget", quote: text, subject: "companion:Emma", about: "Emma" };
    const theatre: Known = { text: "Likes the theatre", subject: "companion:daughter" };
    expect(left([daughter, theatre, jazz], text, proposal)).toMatchObject({
      kept: ["Loves jazz"],
      asked: ["Daughter Emma is vegan", "Likes the theatre"],
    });
  });

  test("a person asks about what merely names them", () => {
    const visit: Known = { text: "Visits mother on Sundays", entities: ["mother"] };
    expect(left([visit, opera], MUM, aboutMum)).toMatchObject({ kept: [], asked: [visit.text, opera.text] });
  });

  test("a thing takes the only soft memory of it, and asks where there are more", () => {
    const text = "Forget everything about jazz";
    const proposal: Proposal = { op: "forget", quote: text, about: "jazz" };
    const leeds: Known = { text: "Lives in Leeds", about: "Leeds" };
    expect(left([jazz, leeds], text, proposal)).toMatchObject({ kept: [leeds.text], asked: [] });
    const night: Known = { text: "Goes to jazz on Mondays", about: "jazz on Mondays" };
    expect(left([jazz, leeds, night], text, proposal)).toMatchObject({ kept: [leeds.text], asked: [jazz.text, night.text] });
  });

  test("a place takes what is soft and of it alone, and asks about what must hold there", () => {
    const text = "Forget what you know about Vienna";
    const proposal: Proposal = { op: "forget", quote: text, about: "Vienna" };
    const trattorias: Known = { text: "Loves quiet trattorias in Vienna", about: "trattorias in Vienna" };
    const dublin: Known = { text: "Loves theatres in Dublin", about: "theatres in Dublin" };
    expect(left([trattorias, dublin, nuts], text, proposal)).toMatchObject({ kept: [dublin.text, nuts.text], asked: [] });
    const stairs = hard("Can't do stairs in Vienna", { category: "accessibility", need: "step_free", about: "stairs in Vienna" });
    expect(left([trattorias, dublin, stairs], text, proposal)).toMatchObject({
      kept: [dublin.text],
      asked: [trattorias.text, stairs.text],
    });
  });

  test("a thing never takes at once what must hold", () => {
    const text = "Forget everything about nuts";
    expect(left([hard("Is allergic to nuts")], text, { op: "forget", quote: text, about: "nuts" })).toMatchObject({
      kept: [],
      asked: ["Is allergic to nuts"],
    });
  });

  test("somebody whom the message doesn't name takes nothing unasked", () => {
    const text = "Forget it all";
    expect(left([nuts, opera], text, { ...aboutMum, quote: text })).toMatchObject({ kept: [], asked: [nuts.text, opera.text] });
  });

  test("a need that waits already is left to that question", () => {
    const doubted = { ...nuts, waits: "unsure" } as const;
    expect(left([doubted, opera], MUM, aboutMum)).toMatchObject({ kept: [nuts.text], asked: [] });
  });

  test.each([
    ["the guest themselves", "Forget everything about me", { op: "forget", quote: "Forget everything about me" }],
    [
      "what somebody else wrote",
      `Mum wrote "forget what you know about my mum" today`,
      { ...aboutMum, quote: MUM.slice(0, 1).toLowerCase() + MUM.slice(1) },
    ],
    ["what is only supposed", MUM, { ...aboutMum, stance: "hypothetical" }],
    ["nobody that is known", "Forget what you know about Karl", { op: "forget", quote: "Forget what you know about Karl", about: "Karl" }],
  ] as const)("%s: nothing goes, and nothing is asked", (_, text, proposal) => {
    expect(left([nuts, opera, jazz], text, proposal)).toMatchObject({ kept: [nuts.text, opera.text, jazz.text], asked: [] });
  });
});
