import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../src/long-term/categories.js";
import { type Changes, type ReconcileOptions, reconcile } from "../../src/long-term/reconcile.js";
import { holdsAt, type MemoryRecord } from "../../src/long-term/record.js";
import { textHash } from "../../src/long-term/same-statement.js";
import { type MemoryOperation, type Statement, statementSchema } from "../../src/long-term.js";
import { ownerOf } from "../../src/owner.js";
import type { Tombstone } from "../../src/owner-ledger.js";
import { derivedId } from "../../src/platform/ids.js";

const owner = ownerOf("default", "ann");
const start = Date.parse("2026-01-01T12:00:00.000Z");
const day = (n: number) => new Date(start + n * 86_400_000).toISOString();
const id = (name: string) => derivedId("memory", name);

/** One step of a story: on a day, something is said (`as` names the memory), or an operation on a named memory. */
type Step = { on: number; message?: string; quote?: string } & (
  | ({ as: string; say: string; review?: boolean; replacing?: string } & Partial<Omit<Statement, "text">>)
  | { confirm: string }
  | { forget: string }
  | { end: string }
);

function operationOf(step: Step): MemoryOperation {
  const message = step.message ?? `message-${step.on}-${"as" in step ? step.as : ""}`;
  const source = (quote: string) => ({ session_id: "s", turn: 1, message_id: message, quote: step.quote ?? quote });
  const stated_at = day(step.on);
  if ("confirm" in step) return { op: "confirm", target_id: id(step.confirm), stated_at, source: source("…") };
  if ("forget" in step) return { op: "forget", target_id: id(step.forget), stated_at, source: source("…") };
  if ("end" in step)
    return { op: "supersede", memory_id: id("none"), target_id: id(step.end), stated_at, source: source("…"), statement: null };
  const { on: _on, message: _message, quote: _quote, as, say, review = false, replacing, ...rest } = step;
  const statement = statementSchema.parse({ category: "seating", aspect: "position", ...rest, text: say });
  const common = { memory_id: id(as), stated_at, source: source(say), statement };
  return replacing === undefined ? { op: "add", ...common, review } : { op: "supersede", ...common, target_id: id(replacing) };
}

function options(more: Partial<ReconcileOptions> = {}): ReconcileOptions {
  return {
    now: new Date(day(400)),
    minConfidence: 0.6,
    tombstones: [],
    hash: (text) => textHash(owner, text),
    categories: CONCIERGE_CATEGORIES,
    ...more,
  };
}

function after(memories: readonly MemoryRecord[], changes: Changes): MemoryRecord[] {
  const all = new Map([...memories, ...changes.created, ...changes.updated].map((record) => [record.id, record]));
  for (const gone of changes.forgotten) all.delete(gone);
  return [...all.values()];
}

/** The story told one step at a time. */
function told(steps: readonly Step[], more: Partial<ReconcileOptions> = {}): MemoryRecord[] {
  return steps.reduce<MemoryRecord[]>((memories, step) => after(memories, reconcile(memories, [operationOf(step)], options(more))), []);
}

function activeTexts(memories: readonly MemoryRecord[], on = 10): string[] {
  return memories
    .filter((record) => holdsAt(record, new Date(day(on))))
    .map((record) => record.text)
    .sort();
}

const hard = { category: "dietary", aspect: "diet", strength: "hard", type: "constraint" } as const;
const jazz = { category: "genre", aspect: "jazz" };

interface Rule {
  readonly rule: string;
  readonly steps: readonly Step[];
  /** Texts that hold on day 10. */
  readonly holds: readonly string[];
}

const RULES: readonly Rule[] = [
  {
    rule: "a new soft preference on the same subject, category and aspect supersedes the old one",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers window seats" },
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "another aspect of the same category stands beside it",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers row five", aspect: "row" },
    ],
    holds: ["Prefers aisle seats", "Prefers row five"],
  },
  {
    rule: "another subject's preference stands beside it",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers window seats", subject: "companion:Eva" },
    ],
    holds: ["Prefers aisle seats", "Prefers window seats"],
  },
  {
    rule: "the name of a companion is the same in any case",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats", subject: "companion:Eva" },
      { on: 1, as: "b", say: "Prefers window seats", subject: "companion:eva" },
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "statements that don't say what they are about never supersede each other",
    steps: [
      { on: 0, as: "a", say: "Collects stamps", category: "other", aspect: "" },
      { on: 1, as: "b", say: "Plays chess", category: "other", aspect: "" },
    ],
    holds: ["Collects stamps", "Plays chess"],
  },
  {
    rule: "a category with one aspect needs no name for it",
    steps: [
      { on: 0, as: "a", say: "Usually books 2 tickets", category: "party_size", aspect: "" },
      { on: 1, as: "b", say: "Usually books 4 tickets", category: "party_size", aspect: "party size" },
    ],
    holds: ["Usually books 4 tickets"],
  },
  {
    rule: "an older statement that comes late doesn't replace the newer one",
    steps: [
      { on: 5, as: "b", say: "Prefers window seats" },
      { on: 1, as: "a", say: "Prefers aisle seats" },
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "of two statements at one moment the message's id decides",
    steps: [
      { on: 1, message: "m2", as: "b", say: "Prefers window seats" },
      { on: 1, message: "m1", as: "a", say: "Prefers aisle seats" },
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "a mind that is changed back holds what was said last",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers window seats" },
      { on: 2, as: "c", say: "Prefers aisle seats" },
    ],
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "a hard constraint is replaced by an explicit hard one about the same thing",
    steps: [
      { on: 0, as: "a", say: "Is vegetarian", ...hard },
      { on: 1, as: "b", say: "Is vegan", ...hard },
    ],
    holds: ["Is vegan"],
  },
  {
    rule: "a hard constraint is not replaced by a soft preference",
    steps: [
      { on: 0, as: "a", say: "Is vegetarian", ...hard },
      { on: 1, as: "b", say: "Likes a steak", ...hard, strength: "soft" },
    ],
    holds: ["Is vegetarian", "Likes a steak"],
  },
  {
    rule: "a hard constraint is not replaced by an inference, however often it is seen",
    steps: [
      { on: 0, as: "a", say: "Is vegetarian", ...hard },
      ...[1, 2, 3, 4].map((on) => ({ on, as: `i${on}`, say: "Eats fish", ...hard, explicit: false })),
    ],
    holds: ["Is vegetarian"],
  },
  {
    rule: "a hard constraint is not replaced by a statement about something else, even when that names it",
    steps: [
      { on: 0, as: "a", say: "Is vegetarian", ...hard },
      { on: 1, as: "b", say: "Prefers jazz", ...jazz, replacing: "a" },
    ],
    holds: ["Is vegetarian", "Prefers jazz"],
  },
  {
    rule: "a hard constraint ends when the user says so",
    steps: [
      { on: 0, as: "a", say: "Is vegetarian", ...hard },
      { on: 1, end: "a" },
    ],
    holds: [],
  },
  {
    rule: "a soft preference becomes hard when the user says so",
    steps: [
      { on: 0, as: "a", say: "Prefers step-free access", category: "accessibility", aspect: "step-free" },
      {
        on: 1,
        as: "b",
        say: "Needs step-free access",
        category: "accessibility",
        aspect: "step-free",
        strength: "hard",
        type: "constraint",
      },
    ],
    holds: ["Needs step-free access"],
  },
  {
    rule: "two allergies stand side by side",
    steps: [
      { on: 0, as: "a", say: "Is allergic to nuts", ...hard, aspect: "nuts" },
      { on: 1, as: "b", say: "Is allergic to shellfish", ...hard, aspect: "shellfish" },
    ],
    holds: ["Is allergic to nuts", "Is allergic to shellfish"],
  },
  {
    rule: "what holds for this trip doesn't replace what always holds",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 9, as: "b", say: "Wants window seats", scope: "trip" },
    ],
    holds: ["Prefers aisle seats", "Wants window seats"],
  },
  {
    rule: "what holds for this trip is over after its date",
    steps: [{ on: 0, as: "a", say: "Wants window seats", scope: "trip", valid_until: day(9) }],
    holds: [],
  },
  {
    rule: "a date without a time holds through that day",
    steps: [{ on: 0, as: "a", say: "Wants window seats", scope: "trip", valid_until: day(10).slice(0, 10) }],
    holds: ["Wants window seats"],
  },
  {
    rule: "a standing statement with an end is over after it, and leaves the lasting one in place",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers window seats", valid_until: day(5) },
    ],
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "what ended before it was said is dropped",
    steps: [{ on: 5, as: "a", say: "Wants window seats", valid_until: day(4) }],
    holds: [],
  },
  {
    rule: "below the confidence gate nothing is stored",
    steps: [{ on: 0, as: "a", say: "Prefers aisle seats", confidence: 0.59 }],
    holds: [],
  },
  {
    rule: "at the confidence gate it is",
    steps: [{ on: 0, as: "a", say: "Prefers aisle seats", confidence: 0.6 }],
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "what is only inferred holds from its third message on",
    steps: [1, 2, 3].map((on) => ({ on, as: `i${on}`, say: "Prefers aisle seats", explicit: false })),
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "what is only inferred doesn't hold after two messages",
    steps: [1, 2].map((on) => ({ on, as: `i${on}`, say: "Prefers aisle seats", explicit: false })),
    holds: [],
  },
  {
    rule: "three inferences from one message count once",
    steps: [1, 2, 3].map((n) => ({ on: 1, message: "m", as: `i${n}`, say: "Prefers aisle seats", explicit: false })),
    holds: [],
  },
  {
    rule: "what was inferred once holds as soon as the user says it",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats", explicit: false },
      { on: 1, as: "b", say: "Prefers aisle seats" },
    ],
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "an inference never replaces what the user said",
    steps: [
      { on: 0, as: "a", say: "Prefers window seats" },
      ...[1, 2, 3].map((on) => ({ on, as: `i${on}`, say: "Prefers aisle seats", explicit: false })),
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "the user's word replaces an inference that holds",
    steps: [
      ...[1, 2, 3].map((on) => ({ on, as: `i${on}`, say: "Prefers aisle seats", explicit: false })),
      { on: 4, as: "b", say: "Prefers window seats" },
    ],
    holds: ["Prefers window seats"],
  },
  {
    rule: "near-duplicates merge: case, punctuation, plurals, and little words",
    steps: [
      { on: 0, as: "a", say: "Prefers jazz concerts", ...jazz },
      { on: 1, as: "b", say: "prefers Jazz concert.", ...jazz },
      { on: 2, as: "c", say: "Usually likes the jazz concerts", ...jazz },
    ],
    holds: ["Prefers jazz concerts"],
  },
  {
    rule: "a negation is no duplicate: it supersedes",
    steps: [
      { on: 0, as: "a", say: "Likes jazz", ...jazz },
      { on: 1, as: "b", say: "Dislikes jazz", ...jazz },
    ],
    holds: ["Dislikes jazz"],
  },
  {
    rule: "another number is no duplicate",
    steps: [
      { on: 0, as: "a", say: "Wants to hear from us 2 days before each of the concerts", category: "other", aspect: "" },
      { on: 1, as: "b", say: "Wants to hear from us 3 days before each of the concerts", category: "other", aspect: "" },
    ],
    holds: ["Wants to hear from us 2 days before each of the concerts", "Wants to hear from us 3 days before each of the concerts"],
  },
  {
    rule: "one word exchanged is no duplicate",
    steps: [
      { on: 0, as: "a", say: "Likes quiet tables by the window at lunch", category: "other", aspect: "" },
      { on: 1, as: "b", say: "Likes quiet tables by the window at dinner", category: "other", aspect: "" },
    ],
    holds: ["Likes quiet tables by the window at dinner", "Likes quiet tables by the window at lunch"],
  },
  {
    rule: "the tool's and the extractor's account of one message are one memory",
    steps: [
      { on: 0, message: "m", quote: "remember that I'm allergic to nuts", as: "tool", say: "Allergic to nuts", ...hard, aspect: "" },
      { on: 0, message: "m", quote: "I'm allergic to nuts", as: "x", say: "Is allergic to nuts", ...hard, aspect: "nuts" },
    ],
    holds: ["Allergic to nuts"],
  },
  {
    rule: "when the tool took a constraint for a preference, the constraint stands",
    steps: [
      {
        on: 0,
        message: "m",
        quote: "remember that I'm allergic to nuts",
        as: "tool",
        say: "Allergic to nuts",
        category: "other",
        aspect: "",
        strength: "soft",
      },
      { on: 0, message: "m", quote: "I'm allergic to nuts", as: "x", say: "Is allergic to nuts", ...hard, aspect: "nuts" },
    ],
    holds: ["Is allergic to nuts"],
  },
  {
    rule: "two things said in one sentence stay two",
    steps: [
      { on: 0, message: "m", quote: "I love jazz and opera", as: "a", say: "Loves jazz", ...jazz },
      { on: 0, message: "m", quote: "I love jazz and opera", as: "b", say: "Loves opera", category: "genre", aspect: "opera" },
    ],
    holds: ["Loves jazz", "Loves opera"],
  },
  {
    rule: "events stand side by side, and the same event told twice is one",
    steps: [
      { on: 0, as: "a", say: "Went to the opera", type: "episodic" },
      { on: 0, as: "b", say: "Went to the opera", type: "episodic", message: "other" },
      { on: 7, as: "c", say: "Went to the opera", type: "episodic" },
    ],
    holds: ["Went to the opera", "Went to the opera"],
  },
  {
    rule: "what waits for review holds nothing and replaces nothing",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers the seats of Brand X", review: true },
    ],
    holds: ["Prefers aisle seats"],
  },
  {
    rule: "a supersede takes the place of its target, whatever the aspect",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers the front row", aspect: "row", replacing: "a" },
    ],
    holds: ["Prefers the front row"],
  },
  {
    rule: "a supersede that is older than its target leaves it",
    steps: [
      { on: 5, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers row five", aspect: "row", replacing: "a" },
    ],
    holds: ["Prefers aisle seats", "Prefers row five"],
  },
  {
    rule: "what is forgotten is gone",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, forget: "a" },
    ],
    holds: [],
  },
  {
    rule: "what was said again after the user asked to forget it stays",
    steps: [
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 3, as: "b", say: "Prefers aisle seats" },
      { on: 2, forget: "a" },
    ],
    holds: ["Prefers aisle seats"],
  },
];

describe("The rules of long-term memory", () => {
  test.each(RULES)("$rule", ({ steps, holds }) => {
    expect(activeTexts(told(steps))).toEqual([...holds].sort());
  });

  test.each(RULES)("told at once as well: $rule", ({ steps, holds }) => {
    expect(activeTexts(after([], reconcile([], steps.map(operationOf), options())))).toEqual([...holds].sort());
  });

  test.each(RULES)("replayed, nothing changes: $rule", ({ steps }) => {
    const memories = told(steps);
    const replay = steps.filter((step) => !("forget" in step)).map(operationOf);
    const gone = steps.flatMap((step) => ("forget" in step ? [id(step.forget)] : []));
    const tombstones = gone.map((memoryId): Tombstone => ({ memoryId, messageIds: [], textHash: "", at: day(400) }));
    const { created, updated } = reconcile(memories, replay, options({ tombstones }));
    expect({ created, updated }).toEqual({ created: [], updated: [] });
  });

  test("without a date, what holds for this trip is over after 30 days", () => {
    const memories = told([{ on: 0, as: "a", say: "Wants window seats", scope: "trip" }]);
    expect([29, 31].map((on) => activeTexts(memories, on))).toEqual([["Wants window seats"], []]);
  });

  test("confirming raises the confidence and the count, once for each message", () => {
    const memories = told([
      { on: 0, as: "a", say: "Prefers aisle seats", confidence: 0.6 },
      { on: 1, message: "m1", confirm: "a" },
      { on: 1, message: "m1", confirm: "a" },
      { on: 2, message: "m2", confirm: "a" },
    ]);
    expect(memories).toMatchObject([{ seen_count: 3, last_confirmed_at: day(2), confirmed_by: ["m1", "m2"] }]);
    expect(memories[0]?.confidence).toBeCloseTo(0.9);
  });

  test("a chain keeps who followed whom and when", () => {
    const memories = told([
      { on: 2, as: "c", say: "Prefers box seats" },
      { on: 0, as: "a", say: "Prefers aisle seats" },
      { on: 1, as: "b", say: "Prefers window seats" },
    ]);
    expect(Object.fromEntries(memories.map((record) => [record.text, [record.superseded_by, record.valid_until]]))).toEqual({
      "Prefers aisle seats": [id("b"), day(1)],
      "Prefers window seats": [id("c"), day(2)],
      "Prefers box seats": [null, null],
    });
  });

  describe("what was forgotten", () => {
    const stone = (more: Partial<Tombstone>): Tombstone => ({ memoryId: id("gone"), messageIds: [], textHash: "", at: day(5), ...more });
    const claim: Step = { on: 1, as: "a", say: "Prefers aisle seats", message: "m" };
    test.each([
      ["by its id", stone({ memoryId: id("a") }), []],
      ["by its words", stone({ textHash: textHash(owner, "prefers aisle SEATS") }), []],
      ["by the message that it came from, in other words", stone({ messageIds: ["m"] }), []],
      ["another memory doesn't stand in the way", stone({}), ["Prefers aisle seats"]],
      [
        "said again afterwards it counts",
        stone({ textHash: textHash(owner, "Prefers aisle seats"), messageIds: ["m"], at: day(0) }),
        ["Prefers aisle seats"],
      ],
    ] as const)("%s", (_name, tombstone, holds) => {
      expect(activeTexts(told([claim], { tombstones: [tombstone] }))).toEqual(holds);
    });

    test("a message that forgets one thing and states another keeps the other", () => {
      const forgets: Step = { on: 1, message: "m", forget: "gone" };
      const changes = reconcile([], [operationOf(forgets), operationOf(claim)], options({ tombstones: [stone({ messageIds: ["m"] })] }));
      expect(changes.created.map((record) => record.text)).toEqual(["Prefers aisle seats"]);
    });
  });

  test("the order in which statements arrive doesn't matter to what holds", () => {
    const values = ["aisle", "window", "box"];
    const statementOn = fc.record({ value: fc.constantFrom(...values), category: fc.constantFrom("seating", "dietary") });
    fc.assert(
      fc.property(fc.array(statementOn, { minLength: 1, maxLength: 7 }), fc.infiniteStream(fc.nat()), (said, random) => {
        const steps = said.map(
          ({ value, category }, on): Step => ({
            on,
            as: `n${on}`,
            say: `Prefers ${value} places`,
            category,
            aspect: "position",
            strength: category === "dietary" ? "hard" : "soft",
          }),
        );
        const shuffled = [...steps]
          .map((step) => ({ step, key: random.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ step }) => step);
        const holding = (memories: MemoryRecord[]) =>
          memories
            .filter((record) => record.status === "active")
            .map((record) => `${record.category} ${record.strength} ${record.text}`)
            .sort();
        expect(holding(told(shuffled))).toEqual(holding(told(steps)));
      }),
      { numRuns: 300 },
    );
  });
});
