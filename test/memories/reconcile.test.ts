import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { textHash } from "../../src/domain/folded-text.js";
import { type Statement, statementSchema } from "../../src/domain/memory.js";
import { holdsAt, type MemoryRecord } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { CheckedOperation } from "../../src/memories/checked-operation.js";
import { changesOf } from "../../src/memories/proposed-change.js";
import { type Reconciled, type ReconcileRules, reconcile } from "../../src/memories/reconcile.js";
import { rejected } from "../../src/memories/waiting.js";

const owner = ownerOf("default", "ann");
const day = (n: number) => new Date(Date.parse("2026-01-01T12:00:00.000Z") + n * 86_400_000);
const rules = (on: number): ReconcileRules => ({
  now: day(on),
  minConfidence: 0.6,
  tombstones: [],
  hash: (text) => textHash(owner, text),
  categories: CONCIERGE_CATEGORIES,
  slotOf: (name) => (name === "vegetarian" || name === "vegan" || name === "pescatarian" ? "diet" : undefined),
});

type Said = Partial<CheckedOperation> & { readonly says?: Partial<Statement> & Pick<Statement, "text"> };

/** One message of day `on` with these operations. */
function message(on: number, said: readonly Said[], known: readonly MemoryRecord[] = []) {
  const operations = said.map(({ says, ...rest }, index): CheckedOperation => {
    const statement = says === undefined ? null : statementSchema.parse({ category: "other", ...says });
    const quote = rest.quote ?? statement?.text ?? "…";
    return { op: "add", index, target_id: null, waits: null, brought_along: false, ...rest, quote, statement };
  });
  const byId = new Map(known.map((record) => [record.id, record]));
  return changesOf(owner, { session_id: "s", turn: on, message_id: `m${on}`, stated_at: day(on), channel: "api" }, operations, byId);
}

class Story {
  memories: MemoryRecord[] = [];
  last: Reconciled | undefined;

  says(on: number, ...said: readonly Said[]): this {
    return this.take(on, message(on, said, this.memories));
  }

  take(on: number, changes: ReturnType<typeof message>): this {
    this.last = reconcile(this.memories, changes, rules(on));
    const all = new Map([...this.memories, ...this.last.puts].map((record) => [record.id, record]));
    for (const id of this.last.forgotten) all.delete(id);
    this.memories = [...all.values()];
    return this;
  }

  id(text: string): string {
    return this.memories.find((record) => record.text === text)?.id ?? "";
  }

  of(text: string): MemoryRecord | undefined {
    return this.memories.find((record) => record.text === text);
  }

  active(on = 100): string[] {
    return this.memories
      .filter((record) => holdsAt(record, day(on)))
      .map(({ text }) => text)
      .sort();
  }
}

const need = (text: string, name: string, more: Partial<Statement> = {}) => ({
  says: { text, category: "dietary", need: name, strength: "hard" as const, type: "constraint" as const, ...more },
});

describe("[need-told] what waits by a need's name", () => {
  const asked = { ...need("No nuts", "no_nuts"), waits: "unsure" as const };
  const denied = () => {
    const story = new Story().says(1, asked);
    story.memories = story.memories.map((record) => rejected(record, day(1)) ?? record);
    return story;
  };

  test("is asked about once in a conversation", () => {
    const story = denied().says(2, asked);
    expect(story.memories.filter(({ status }) => status === "review")).toEqual([]);
    expect(story.last?.dropped).toEqual({ denied: 1 });
  });

  test("is asked about again in another one, and holds where it is said plainly", () => {
    const story = denied();
    const elsewhere = message(2, [asked]).map((change) => ({
      ...change,
      source: change.source && { ...change.source, session_id: "another" },
    }));
    expect(story.take(2, elsewhere).memories.filter(({ status }) => status === "review")).toHaveLength(1);
    expect(denied().says(2, need("Is allergic to nuts", "no_nuts")).active()).toEqual(["Is allergic to nuts"]);
  });
});

describe("[one-in-a-slot] of needs that exclude each other", () => {
  const [vegetarian, vegan] = [need("Is vegetarian", "vegetarian"), need("Is vegan", "vegan")];

  test("a second is asked about, and the first holds meanwhile", () => {
    const story = new Story().says(1, vegetarian).says(2, vegan);
    expect(story.active()).toEqual(["Is vegetarian"]);
    expect(story.of("Is vegetarian")?.pending_change).toMatchObject({
      op: "supersede",
      reason: "unclear_change",
      statement: { need: "vegan" },
    });
    // The same message once more changes nothing.
    expect(story.says(2, vegan).last?.puts).toEqual([]);
  });

  test("what ends the first and states the second in one message is asked about as one", () => {
    const first = new Story().says(1, vegetarian);
    const end: Said = { op: "end", target_id: first.id("Is vegetarian"), waits: "unclear_change", quote: "no longer vegetarian" };
    for (const said of [
      [end, vegan],
      [vegan, end],
    ]) {
      const story = new Story().says(1, vegetarian).says(2, ...said);
      expect(story.of("Is vegetarian")?.pending_change).toMatchObject({ op: "supersede", statement: { text: "Is vegan" } });
    }
  });

  test("said again in another message it takes the first one's place", () => {
    const story = new Story().says(1, vegetarian).says(2, vegan).says(3, vegan);
    expect([story.active(), story.of("Is vegetarian")?.superseded_by]).toEqual([["Is vegan"], story.id("Is vegan")]);
  });

  test.each([
    ["Needs a space 70 cm wide", "Needs a space 85 cm wide", "wheelchair_width"],
    ["Comes with a party of six", "Comes with a party of 8", "party_size"],
    ["Needs twenty-five minutes", "Needs forty minutes", "transfer_time"],
  ])("of a need that counts, another number is asked about: %s, %s", (first, second, name) => {
    const story = new Story().says(1, need(first, name)).says(2, need(second, name));
    expect(story.active()).toEqual([first]);
    expect(story.of(first)?.pending_change).toMatchObject({ op: "supersede", statement: { text: second } });
    expect(story.says(3, need(second, name)).active()).toEqual([second]);
  });

  test("numbers that count nothing of each other stand side by side", () => {
    const said = ["Allergic to nuts since 2019", "Allergic to nuts, carries 2 pens"];
    expect(
      new Story()
        .says(1, need(said[0] ?? "", "no_nuts"))
        .says(2, need(said[1] ?? "", "no_nuts"))
        .active(),
    ).toEqual(said);
  });

  test("so does what names the first, and what is said by hand", () => {
    const named = new Story().says(1, vegetarian);
    named.says(2, { ...vegan, op: "supersede", target_id: named.id("Is vegetarian") });
    expect(named.active()).toEqual(["Is vegan"]);
    const byHand = message(2, [vegan]).map((change) => ({ ...change, source: null }));
    expect(new Story().says(1, vegetarian).take(2, byHand).active()).toEqual(["Is vegan"]);
  });

  test("another person's, another condition's and an older one's hold beside it, or not at all", () => {
    const hers = need("Ann's wife is vegan", "vegan", { subject: "companion:Mia" });
    const onFridays = need("Is vegan in Lent", "vegan", { condition: "in Lent" });
    expect(new Story().says(1, vegetarian).says(2, hers).says(3, onFridays).active()).toHaveLength(3);
    expect(new Story().says(5, vegetarian).says(2, vegan).of("Is vegetarian")?.pending_change).toBeNull();
  });
});

describe("what stands side by side", () => {
  test("two allergies with one aspect, from one quote or from two messages", () => {
    const quote = "I can't have nuts or shellfish";
    const story = new Story()
      .says(1, { ...need("Nut allergy", "no_nuts", { aspect: "allergy", about: "nuts" }), quote })
      .says(2, { ...need("Shellfish allergy", "no_shellfish", { aspect: "allergy", about: "shellfish" }), quote });
    expect(story.active()).toEqual(["Nut allergy", "Shellfish allergy"]);
    expect(
      new Story()
        .says(
          1,
          { ...need("Nut allergy", "other", { aspect: "allergy", about: "nuts" }), quote },
          { ...need("Shellfish allergy", "other", { aspect: "allergy", about: "shellfish" }), quote },
        )
        .active(),
    ).toEqual(["Nut allergy", "Shellfish allergy"]);
  });

  test("two diets, though a diet is one value: a hard one never gives way without a target", () => {
    const story = new Story()
      .says(1, need("Vegetarian", "vegetarian", { aspect: "diet" }))
      .says(2, need("Gluten-free", "gluten_free", { aspect: "diet" }));
    expect(story.active()).toEqual(["Gluten-free", "Vegetarian"]);
  });

  test("the same aspect under another condition, and of another person", () => {
    const seat = (text: string, more: Partial<Statement> = {}) => ({ says: { text, category: "seating", aspect: "position", ...more } });
    const story = new Story()
      .says(1, seat("Aisle"))
      .says(2, seat("Window on trains", { condition: "on trains" }))
      .says(3, seat("Middle", { subject: "companion:Jon" }));
    expect(story.active()).toEqual(["Aisle", "Middle", "Window on trains"]);
    const budget = new Story()
      .says(1, { says: { text: "Up to 80", category: "budget", aspect: "budget" } })
      .says(2, { says: { text: "Up to 150 for opera", category: "budget", aspect: "budget", condition: "for opera" } });
    expect(budget.active()).toEqual(["Up to 150 for opera", "Up to 80"]);
    const party = new Story().says(
      1,
      { says: { text: "Two", category: "party_size", aspect: "party size" } },
      { says: { text: "Four with the kids", category: "party_size", aspect: "party size", condition: "with the kids" } },
    );
    expect(party.active()).toEqual(["Four with the kids", "Two"]);
  });

  test("open aspects, whatever is said of them", () => {
    const story = new Story()
      .says(1, { says: { text: "Jazz", category: "genre", aspect: "jazz" } })
      .says(2, { says: { text: "Loud jazz", category: "genre", aspect: "jazz" } });
    expect(story.active()).toEqual(["Jazz", "Loud jazz"]);
  });
});

describe("what gives way", () => {
  test("a named target, whatever its aspect: box seats after aisle seats", () => {
    const story = new Story().says(1, { says: { text: "Aisle seats", category: "seating", aspect: "position" } });
    story.says(2, {
      op: "supersede",
      target_id: story.id("Aisle seats"),
      says: { text: "Box seats", category: "seating", aspect: "area" },
    });
    expect(story.active()).toEqual(["Box seats"]);
    expect(story.of("Aisle seats")).toMatchObject({ status: "superseded", superseded_by: story.id("Box seats") });
  });

  test("without a target the older soft statement of an aspect that holds one value, in whatever order they arrive", () => {
    const rows = ["A", "B", "C", "D"].map((row, n) => message(n, [{ says: { text: `Row ${row}`, category: "seating", aspect: "rows" } }]));
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: 4, maxLength: 4 }), (shuffled) => {
        const story = new Story();
        for (const changes of shuffled) story.take(50, changes);
        expect(story.active()).toEqual(["Row D"]);
      }),
    );
  });

  describe("without a target a taste to its opposite", () => {
    const taste = (text: string, more: Partial<Statement> = {}) => ({ says: { text, category: "genre", ...more } });

    test.each([
      ["Loves ballet", "Hates ballet"],
      ["Hates ballet", "Loves the ballet"],
      ["Loves going to musicals", "Is not really into musicals"],
      ["Enjoys musicals", "A musical isn't their cup of tea"],
      ["Is a big fan of opera", "Cannot stand opera"],
      ["Likes opera", "Opera bores her"],
      ["Loves jazz", "No longer likes jazz"],
      ["Mag Ballett", "Mag kein Ballett"],
      ["Liebt die Oper", "Mag die Oper gar nicht"],
      ["Aime l'opéra", "N'aime plus l'opéra"],
      ["Le gusta el flamenco", "No le gusta nada el flamenco"],
      ["Ama il jazz", "Non sopporta il jazz"],
      ["Gosta de fado", "Já não gosta de fado"],
      ["Houdt van opera", "Houdt niet van opera"],
    ])("%s, then %s, in whatever order they arrive", (older, newer) => {
      const [first, second] = [message(1, [taste(older)]), message(2, [taste(newer)])];
      const story = new Story().take(2, first).take(2, second);
      expect([story.active(), story.of(older)?.superseded_by]).toEqual([[newer], story.id(newer)]);
      expect(new Story().take(2, second).take(2, first).active()).toEqual([newer]);
    });

    test.each([
      ["Hates opera", {}],
      ["Hates ballet music", {}],
      ["Loves ballet on Fridays", {}],
      ["Adores ballet", {}],
      ["Used to hate ballet", {}],
      ["Would hate ballet", {}],
      ["Hates ballet", { condition: "on weekdays" }],
      ["Hates ballet", { subject: "companion:Jon" }],
      ["Hates ballet", { category: "venue" }],
      ["Hates ballet", { type: "episodic" as const }],
      ["Hates ballet", { strength: "hard" as const }],
      ["Hates ballet", { scope: "trip" as const, valid_until: day(30).toISOString() }],
    ])("but no other thing, nobody else's, and none that is no opposite: %s %o", (text, more) => {
      expect(new Story().says(1, taste("Loves ballet")).says(2, taste(text, more)).of("Loves ballet")?.status).toBe("active");
    });
  });

  test("a home only from the day of the move on", () => {
    const home = (text: string, more: Partial<Statement> = {}) => ({ says: { text, category: "location", aspect: "home", ...more } });
    for (const op of ["add", "supersede"] as const) {
      const story = new Story().says(1, home("Lives in Leeds"));
      const target_id = op === "supersede" ? story.id("Lives in Leeds") : null;
      story.says(10, { op, target_id, ...home("Lives in York", { valid_from: day(60).toISOString() }) });
      expect(story.active(20)).toEqual(["Lives in Leeds"]);
      expect(story.active(70)).toEqual(["Lives in York"]);
    }
  });

  test("what is to take the place of something that waits itself is asked about, and not lost", () => {
    const story = new Story().says(1, { ...need("Is allergic to cats", "other", { about: "cats" }), waits: "not_named" });
    story.says(2, {
      op: "supersede",
      target_id: story.id("Is allergic to cats"),
      waits: "not_named",
      ...need("Is allergic to rabbits", "other", { about: "rabbits" }),
    });
    expect(story.of("Is allergic to rabbits")).toMatchObject({ status: "review", reason: "not_named" });
  });

  test("a need that ends, or that a wider statement replaces, by name", () => {
    const story = new Story().says(1, need("Vegetarian", "vegetarian"), need("Wheelchair", "step_free"));
    story.says(2, { op: "end", target_id: story.id("Wheelchair") });
    story.says(3, { op: "supersede", target_id: story.id("Vegetarian"), says: { text: "Eats everything", category: "dietary" } });
    expect(story.active()).toEqual(["Eats everything"]);
  });

  test("nothing that was said later", () => {
    const story = new Story().says(5, { says: { text: "Row B", category: "seating", aspect: "row" } });
    story.says(2, { op: "end", target_id: story.id("Row B") });
    expect(story.active()).toEqual(["Row B"]);
    expect(story.last?.dropped).toEqual({ older: 1 });
  });
});

describe("what is the same", () => {
  test("the same words or the same need confirm, once a message", () => {
    const story = new Story().says(1, need("Nut allergy", "no_nuts")).says(2, need("Can't eat nuts", "no_nuts"));
    expect(story.active()).toEqual(["Nut allergy"]);
    expect(story.memories[0]).toMatchObject({ seen_count: 2, confirmed_by: ["m2"] });
    story.says(2, need("Can't eat nuts", "no_nuts"));
    expect(story.memories[0]).toMatchObject({ seen_count: 2 });
  });

  test("the need that one of the same words names stays, whichever came first", () => {
    const byHand = { says: { text: "Allergic to nuts", category: "dietary", strength: "hard" as const, type: "constraint" as const } };
    const named = need("Allergic to nuts", "no_nuts");
    for (const [first, second] of [
      [byHand, named],
      [named, byHand],
    ] as const) {
      const story = new Story().says(1, first).says(2, second);
      expect(story.active()).toEqual(["Allergic to nuts"]);
      expect(story.memories.find(({ status }) => status === "active")).toMatchObject({ need: "no_nuts", strength: "hard" });
    }
  });

  test("a companion's relation and name are one person once they were said together", () => {
    const story = new Story().says(1, {
      ...need("Nut allergy", "no_nuts", { subject: "companion:daughter", entities: ["Emma"] }),
      quote: "my daughter Emma is allergic to nuts",
    });
    story.says(2, need("Allergic to nuts", "no_nuts", { subject: "companion:Emma" }));
    expect(story.memories).toHaveLength(1);
    story.says(3, need("Vegetarian", "vegetarian", { subject: "companion:Emma" }));
    expect(story.of("Vegetarian")).toMatchObject({ subject: "companion:daughter", entities: ["Emma"] });
  });

  test("a companion whose need is told again under a name that was put right is known by it", () => {
    const sister = (name: string, quote: string) => ({
      ...need(`Sister ${name} needs step-free access`, "step_free", { subject: "companion:sister", entities: [name] }),
      quote,
    });
    const story = new Story().says(1, sister("Ann", "my sister Ann")).says(2, sister("Anna", "it's Anna, not Ann"));
    expect(story.active()).toEqual(["Sister Ann needs step-free access"]);
    expect(story.memories[0]?.entities).toEqual(["Ann", "Anna"]);
  });

  describe("people who share a relation or a name stay two, and each keeps the same need", () => {
    const allergic = (subject: string, entities: readonly string[], quote: string) => ({
      ...need(`${subject} ${entities.join(" ")}: nuts`, "no_nuts", {
        subject: `companion:${subject}`,
        entities: [...entities],
        about: "nuts",
      }),
      quote,
    });
    test.each([
      ["two daughters", allergic("daughter Emma", [], "Emma"), allergic("daughter Lea", [], "Lea")],
      [
        "two daughters under one subject",
        allergic("daughter", ["Emma"], "my daughter Emma can't have nuts"),
        allergic("daughter", ["Lea"], "my daughter Lea can't have nuts"),
      ],
      ["a friend and another", allergic("friend Anna", ["Anna"], "my friend Anna"), allergic("friend Olaf", ["Olaf"], "my friend Olaf")],
      ["two of one family", allergic("Emma Meier", [], "Emma Meier"), allergic("Karl Meier", [], "Karl Meier")],
      ["the guest's mother and a friend's", allergic("mother", [], "my mother"), allergic("Karl's mother", ["Karl"], "Karl's mother")],
      ["the same in German", allergic("Mutter", [], "meine Mutter"), allergic("Karls Mutter", ["Karl"], "Karls Mutter")],
    ])("%s", (_, first, second) => {
      const story = new Story().says(1, first).says(2, second);
      expect(story.active()).toHaveLength(2);
      expect(new Story().says(1, first, second).active()).toHaveLength(2);
    });
  });

  test("two companions who were only named together stay two", () => {
    const story = new Story().says(
      1,
      {
        ...need("Nut allergy", "no_nuts", { subject: "companion:Jon", entities: ["Emma"] }),
        quote: "Jon, Emma and I; Jon has a nut allergy",
      },
      need("Nuts are out", "no_nuts", { subject: "companion:Emma" }),
    );
    expect(story.active()).toEqual(["Nut allergy", "Nuts are out"]);
  });

  test("spelling of categories and aspects is the table's; an unknown category keeps what must hold", () => {
    const story = new Story().says(
      1,
      need("Coeliac", "gluten_free", { category: "Diet" }),
      need("Pacemaker", "other", { category: "medical devices" }),
      { says: { text: "Row B", category: "Seatings", aspect: "Row" } },
    );
    expect(story.of("Coeliac")).toMatchObject({ category: "dietary", strength: "hard" });
    expect(story.of("Pacemaker")).toMatchObject({ category: "other", strength: "hard", status: "active" });
    expect(story.of("Row B")).toMatchObject({ category: "seating", aspect: "row" });
  });
});

describe("what waits", () => {
  test("an add waits with its reason, and holds once it is said plainly", () => {
    const story = new Story().says(1, { ...need("Nut allergy", "no_nuts", { about: "nuts" }), waits: "joking" });
    expect(story.memories[0]).toMatchObject({ status: "review", reason: "joking" });
    story.says(2, { op: "confirm", target_id: story.id("Nut allergy"), quote: "yes please" });
    expect(story.memories[0]).toMatchObject({ status: "review" });
    story.says(3, { op: "confirm", target_id: story.id("Nut allergy"), quote: "no nuts for me" });
    expect(story.memories[0]).toMatchObject({ status: "active", reason: null });
    const again = new Story().says(1, { ...need("Nut allergy", "no_nuts"), waits: "unsure" }).says(2, need("Allergic to nuts", "no_nuts"));
    expect(again.active()).toEqual(["Allergic to nuts"]);
  });

  test("what was doubted is kept as it is said plainly later, and not in the words of the doubt", () => {
    const story = new Story().says(1, { ...need("May be allergic to nuts", "no_nuts"), waits: "unsure" });
    story.says(2, need("Is allergic to nuts", "no_nuts"));
    expect(story.active()).toEqual(["Is allergic to nuts"]);
    expect(story.of("May be allergic to nuts")).toMatchObject({ status: "superseded", superseded_by: story.id("Is allergic to nuts") });
    // Of one message both accounts count: the doubt stays.
    const one = new Story().says(
      1,
      { ...need("May be allergic to nuts", "no_nuts"), waits: "unsure" },
      need("Is allergic to nuts", "no_nuts"),
    );
    expect(one.active()).toEqual([]);
  });

  test("what waits of the same thing waits no more once another sentence says it plainly; of another thing or person it goes on waiting", () => {
    const pork = { about: "pork", aspect: "pork" };
    const story = new Story()
      .says(
        1,
        { ...need("May not eat pork", "other", pork), waits: "unsure" },
        { ...need("May not eat beef", "other", { about: "beef" }), waits: "unsure" },
        { ...need("Mother may not eat pork", "other", { ...pork, subject: "companion:mother" }), waits: "unsure" },
      )
      .says(2, need("Doesn't eat pork", "other", pork));
    expect(story.active()).toEqual(["Doesn't eat pork"]);
    const waiting = story.memories.filter(({ status }) => status === "review").map(({ text }) => text);
    expect(waiting.sort()).toEqual(["May not eat beef", "Mother may not eat pork"]);
    const later = new Story()
      .says(1, { ...need("May not eat pork", "other", pork), waits: "unsure" })
      .says(2, need("Eats no pork from February on", "other", { ...pork, valid_from: day(31).toISOString() }));
    expect(later.of("May not eat pork")?.status).toBe("review");
  });

  test("a change of what must hold leaves it as it is, and waits there", () => {
    const story = new Story().says(1, need("Nut allergy", "no_nuts"));
    story.says(2, { op: "end", target_id: story.id("Nut allergy"), waits: "unclear_change" });
    expect(story.memories[0]).toMatchObject({ status: "active", pending_change: { op: "end", reason: "unclear_change" } });
    story.says(3, { op: "forget", target_id: story.id("Nut allergy"), waits: "unclear_change" });
    expect(story.active()).toEqual(["Nut allergy"]);
  });

  test("at most five from one message and twenty of one owner; what is over is counted", () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => ({ says: { text: `Thing ${i}` }, waits: "unsure" as const }));
    const story = new Story().says(1, ...many(7));
    expect(story.memories).toHaveLength(5);
    expect(story.last?.dropped).toEqual({ too_many_waiting: 2 });
    for (let on = 2; on < 8; on++)
      story.says(on, ...Array.from({ length: 4 }, (_, i) => ({ says: { text: `Day ${on} thing ${i}` }, waits: "unsure" as const })));
    expect(story.memories).toHaveLength(20);
  });

  test("one whose end has passed closes with an event", () => {
    const story = new Story().says(1, { says: { text: "On crutches", valid_until: day(5).toISOString() }, waits: "unsure" });
    story.says(9, { says: { text: "Likes tea" } });
    expect(story.of("On crutches")).toMatchObject({ status: "superseded", reason: null });
    expect(story.of("On crutches")?.events.at(-1)).toMatchObject({ event: "expired" });
  });

  test("what was only inferred waits until it was seen in three messages", () => {
    const inferred = { says: { text: "Usually two tickets", category: "party_size", explicit: false } };
    const story = new Story().says(1, inferred).says(2, inferred);
    expect(story.memories[0]).toMatchObject({ status: "review", reason: "inferred" });
    expect(story.says(3, inferred).active()).toEqual(["Usually two tickets"]);
  });

  test("a soft statement that is not sure enough is dropped, a hard one never", () => {
    const story = new Story().says(1, { says: { text: "Maybe jazz", confidence: 0.3 } }, need("Nuts", "no_nuts", { confidence: 0.3 }));
    expect(story.active()).toEqual(["Nuts"]);
    expect(story.last?.dropped).toEqual({ not_sure_enough: 1 });
  });
});
