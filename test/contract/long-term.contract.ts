// Over 300 lines: one contract of one port; each test tells a story of its own.

import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Memory, type MemorySource, type NewStatement, type Statement, statementSchema } from "../../src/domain/memory.js";
import { memoryIdOf, type Owner, ownerOf } from "../../src/domain/owner.js";
import { collected } from "../../src/platform/collected.js";
import { isAppError } from "../../src/platform/errors.js";
import type { LongTermMemory } from "../../src/ports/memories.js";
import { everyItem } from "../../src/ports/pages.js";
import { type ContractOptions, optionalTests } from "../../src/testing/supports.js";

export const NOW = new Date("2026-03-01T12:00:00.000Z");

/**
 * What was read of a message, checked. `memory_id` is UUIDv5(owner, session, message, index). A `supersede` says that its target no longer
 * holds and, with a statement, what holds instead.
 */
export type MemoryOperation = { readonly stated_at: string; readonly source: MemorySource } & (
  | { readonly op: "add"; readonly memory_id: string; readonly statement: Statement; readonly review: boolean }
  | { readonly op: "supersede"; readonly memory_id: string; readonly target_id: string; readonly statement: Statement | null }
  | { readonly op: "confirm" | "forget"; readonly target_id: string }
);

export interface AppliedOperations {
  /** Ids that were read back after the write. */
  readonly stored: readonly string[];
  readonly confirmed: readonly string[];
  readonly superseded: readonly string[];
  readonly forgotten: readonly string[];
  /** Dropped by a rule (older than what is there, below the confidence gate, forgotten before). */
  readonly dropped: number;
}

/** Memories without a reader: operations are reconciled with what is known, logged and stored. The same ones give the same memories. */
export interface AppliesOperations {
  apply(
    owner: Owner,
    operations: readonly MemoryOperation[],
    options: { readonly now: Date; readonly signal?: AbortSignal },
  ): Promise<AppliedOperations>;
}

export interface LongTermFixture {
  readonly memory: LongTermMemory & AppliesOperations;
  close(): Promise<void>;
}

/** The clock of a fixture: it stands still until a test turns it. */
export class TestClock {
  #now = NOW;

  now(): Date {
    return this.#now;
  }

  turnTo(now: Date): void {
    this.#now = now;
  }
}

export function statement(text: string, more: Partial<Statement> = {}): Statement {
  return statementSchema.parse({ text, category: "genre", ...more });
}

/** Operations as a plan has them: one message, its quote the statement's own text. */
export function said(
  owner: Owner,
  text: string,
  more: Partial<Statement> & { at?: string; session?: string; message?: string; index?: number; quote?: string; review?: boolean } = {},
): MemoryOperation & { readonly op: "add" } {
  const { at = NOW.toISOString(), session = "s1", message = randomUUID(), index = 0, quote = text, review = false, ...rest } = more;
  return {
    op: "add",
    memory_id: memoryIdOf(owner, session, message, index),
    stated_at: at,
    source: { session_id: session, turn: 1, message_id: message, quote },
    statement: statement(text, rest),
    review,
  };
}

export function later(days: number): Date {
  return new Date(NOW.getTime() + days * 86_400_000);
}

/** `paging` and `search` of memories; `restore`: of an export. */
export type LongTermFeature = "paging" | "search" | "restore";

/** What every long-term memory promises. `make` gives one that goes by the clock that it is handed. */
export function longTermContract(
  name: string,
  make: (clock: TestClock) => Promise<LongTermFixture>,
  { supports }: ContractOptions<LongTermFeature> = {},
): void {
  const when = optionalTests(supports);
  describe(`${name} as a LongTermMemory`, () => {
    let fixture: LongTermFixture;
    let memory: LongTermFixture["memory"];
    let clock: TestClock;
    let ann: Owner;
    let bob: Owner;
    const recall = (owner: Owner, text: string, options: { now?: Date; limit?: number } = {}) =>
      memory.recall(owner, {
        text,
        now: options.now ?? NOW,
        deadlineMs: 20_000,
        ...(options.limit === undefined ? {} : { limit: options.limit }),
      });
    const texts = (memories: readonly { text: string }[]) => memories.map(({ text }) => text).sort();
    const active = async (owner: Owner) => texts((await memory.list(owner, { limit: 200 })).data);
    const apply = (owner: Owner, operations: readonly MemoryOperation[], now = NOW) => {
      clock.turnTo(now);
      return memory.apply(owner, operations, { now });
    };
    const everything = async (owner: Owner) => {
      const all = await collected(memory.all(owner));
      return all.sort((a, b) => (a.id < b.id ? -1 : 1));
    };
    const code = async (work: Promise<unknown>) => {
      const error = await work.catch((reason: unknown) => reason);
      return isAppError(error) ? error.code : error;
    };

    beforeEach(async () => {
      clock = new TestClock();
      fixture = await make(clock);
      memory = fixture.memory;
      ann = ownerOf("default", `ann-${randomUUID()}`);
      bob = ownerOf("default", `bob-${randomUUID()}`);
    });
    afterEach(() => fixture.close());

    test("nothing stored: recall is empty", async () => {
      expect(await recall(ann, "Anything good?")).toEqual({ status: "empty", memories: [] });
    });

    test("what is applied is read back, listed, found by its words, and recalled with its source", async () => {
      const operation = said(ann, "Prefers jazz concerts", { aspect: "jazz", message: "m1" });
      expect(await apply(ann, [operation])).toEqual({
        stored: [operation.memory_id],
        confirmed: [],
        superseded: [],
        forgotten: [],
        dropped: 0,
      });
      const stored = await memory.get(ann, operation.memory_id);
      expect(stored).toMatchObject({
        id: operation.memory_id,
        text: "Prefers jazz concerts",
        status: "active",
        seen_count: 1,
        valid_until: null,
        source: operation.source,
        stated_at: NOW.toISOString(),
      });
      expect((await memory.search(ann, { text: "jazz concerts" }))[0]).toMatchObject({ ...stored, score: expect.any(Number) });
      const { status, memories } = await recall(ann, "jazz concerts");
      expect(status).toBe("ok");
      expect(memories).toEqual([
        {
          id: stored.id,
          text: stored.text,
          category: "genre",
          strength: "soft",
          subject: "self",
          score: expect.any(Number),
          source: { session_id: "s1", turn: 1, message_id: "m1" },
          created_at: stored.created_at,
        },
      ]);
    });

    test("another session's question that shares no word gets jazz, two tickets and step-free access among 200 others", async () => {
      await apply(ann, [
        said(ann, "Prefers jazz concerts", { aspect: "jazz", message: "m1", index: 0 }),
        said(ann, "Usually books 2 tickets", { category: "party_size", message: "m1", index: 1 }),
        said(ann, "Needs step-free access", {
          category: "accessibility",
          aspect: "step-free",
          type: "constraint",
          strength: "hard",
          message: "m1",
          index: 2,
        }),
      ]);
      const unrelated = Array.from({ length: 200 }, (_, n) =>
        said(ann, `Owns the ${ordinal(n)} edition of a cookery almanac`, { category: "other", type: "fact", aspect: `almanac ${n}` }),
      );
      await apply(ann, unrelated, later(1));
      const { status, memories } = await recall(ann, "Anything good this weekend?", { now: later(2) });
      expect(status).toBe("ok");
      expect(memories.map(({ text }) => text)).toEqual(expect.arrayContaining(["Prefers jazz concerts", "Usually books 2 tickets"]));
      expect(memories[0]).toMatchObject({ text: "Needs step-free access", strength: "hard" });
    });

    test("all hard constraints are recalled, whatever the limit and the query, and no id twice", async () => {
      const needs = Array.from({ length: 30 }, (_, n) =>
        said(ann, `Is allergic to the ${ordinal(n)} additive`, {
          category: "dietary",
          aspect: `additive ${n}`,
          strength: "hard",
          type: "constraint",
        }),
      );
      await apply(ann, needs);
      const { memories } = await recall(ann, "additive", { limit: 5 });
      expect(new Set(memories.map(({ id }) => id)).size).toBe(memories.length);
      expect(texts(memories)).toEqual(texts(needs.map((need) => need.statement)));
      expect(texts(await memory.needs(ann, { now: NOW }))).toEqual(texts(memories));
    });

    test("the gate is given the soft ones that it asks for, by what they are and not by a query", async () => {
      await apply(ann, [
        said(ann, "Budget is 60 euros", { category: "budget", aspect: "budget" }),
        said(ann, "Prefers jazz concerts", { category: "genre", aspect: "jazz" }),
        said(ann, "Needs step-free access", { category: "accessibility", aspect: "", strength: "hard", type: "constraint" }),
      ]);
      const soft = ({ category }: Memory) => category === "budget";
      expect(texts(await memory.needs(ann, { now: NOW, soft }))).toEqual(["Budget is 60 euros", "Needs step-free access"]);
      expect(texts(await memory.needs(ann, { now: NOW }))).toEqual(["Needs step-free access"]);
      await apply(ann, [said(ann, "Budget is 90 euros", { category: "budget", aspect: "budget", at: later(1).toISOString() })], later(1));
      expect(texts(await memory.needs(ann, { now: later(1), soft }))).toEqual(["Budget is 90 euros", "Needs step-free access"]);
    });

    test("the same plan applied again changes nothing", async () => {
      const message = "m1";
      const plan = [
        said(ann, "Prefers jazz concerts", { aspect: "jazz", message }),
        said(ann, "Likes opera", { aspect: "opera", message, index: 1 }),
      ];
      await apply(ann, plan);
      const before = await memory.list(ann, { includeSuperseded: true });
      expect(await apply(ann, plan, later(1))).toMatchObject({
        stored: plan.map((operation) => operation.memory_id),
        superseded: [],
        dropped: 0,
      });
      expect(await memory.list(ann, { includeSuperseded: true })).toEqual(before);
    });

    test("the same statement 50 times in parallel makes one memory, seen 50 times", async () => {
      await Promise.all(Array.from({ length: 50 }, () => apply(ann, [said(ann, "Prefers jazz concerts", { aspect: "jazz" })])));
      const { data } = await memory.list(ann, { includeSuperseded: true });
      expect(data).toHaveLength(1);
      expect(data[0]).toMatchObject({ seen_count: 50, text: "Prefers jazz concerts" });
    });

    test("a changed mind supersedes: the old one is not recalled, is read with as_of, and stands in the history", async () => {
      const aisle = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
      await apply(ann, [aisle]);
      const window = said(ann, "Prefers window seats", { category: "seating", aspect: "position", at: later(10).toISOString() });
      expect(await apply(ann, [window], later(10))).toMatchObject({ stored: [window.memory_id], superseded: [aisle.memory_id] });
      expect(await active(ann)).toEqual(["Prefers window seats"]);
      expect(texts((await recall(ann, "seats", { now: later(11) })).memories)).toEqual(["Prefers window seats"]);
      expect(await memory.get(ann, aisle.memory_id)).toMatchObject({
        status: "superseded",
        superseded_by: window.memory_id,
        valid_until: later(10).toISOString(),
      });
      expect(texts((await memory.list(ann, { as_of: later(5).toISOString() })).data)).toEqual(["Prefers aisle seats"]);
      expect(texts((await memory.list(ann, { includeSuperseded: true })).data)).toEqual(["Prefers aisle seats", "Prefers window seats"]);
      expect((await memory.history(ann, window.memory_id)).map(({ event, text, memory_id }) => [event, text, memory_id])).toEqual([
        ["added", "Prefers aisle seats", aisle.memory_id],
        ["added", "Prefers window seats", window.memory_id],
        ["superseded", null, aisle.memory_id],
      ]);
    });

    test("an older statement that comes late doesn't replace the newer one", async () => {
      const window = said(ann, "Prefers window seats", { category: "seating", aspect: "position", at: later(10).toISOString() });
      await apply(ann, [window], later(10));
      await apply(ann, [said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" })], later(11));
      expect(await active(ann)).toEqual(["Prefers window seats"]);
    });

    test("what holds for this trip alone ends by itself", async () => {
      await apply(ann, [
        said(ann, "Wants a table outside", { category: "seating", aspect: "area", scope: "trip" }),
        said(ann, "Wants to be near the station", {
          category: "location",
          aspect: "area",
          scope: "trip",
          valid_until: later(3).toISOString(),
        }),
      ]);
      expect(texts((await recall(ann, "Where?", { now: later(2) })).memories)).toEqual([
        "Wants a table outside",
        "Wants to be near the station",
      ]);
      expect(texts((await recall(ann, "Where?", { now: later(4) })).memories)).toEqual(["Wants a table outside"]);
      expect((await recall(ann, "Where?", { now: later(31) })).memories).toEqual([]);
    });

    test("what is in review is shown when asked for, and not recalled before it is approved", async () => {
      const doubtful = said(ann, "Must always be told of Brand X", { category: "other", review: true });
      await apply(ann, [doubtful]);
      expect((await recall(ann, "Must always be told of Brand X")).memories).toEqual([]);
      expect(await active(ann)).toEqual([]);
      expect(texts((await memory.list(ann, { status: "review" })).data)).toEqual(["Must always be told of Brand X"]);
      expect(await memory.approve(ann, doubtful.memory_id, { now: NOW })).toMatchObject({ status: "active" });
      expect(texts((await recall(ann, "Brand")).memories)).toEqual(["Must always be told of Brand X"]);
    });

    test("forgetting takes the older versions along, and no replay or restatement of old words brings them back", async () => {
      const first = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
      const second = said(ann, "Prefers window seats", { category: "seating", aspect: "position", at: later(1).toISOString() });
      await apply(ann, [first, second], later(1));
      expect(texts(await memory.forget(ann, second.memory_id, { now: later(2) }))).toEqual(["Prefers aisle seats", "Prefers window seats"]);
      expect(await code(memory.get(ann, first.memory_id))).toBe("MEMORY_NOT_FOUND");
      expect(await apply(ann, [first, second], later(3))).toMatchObject({ stored: [], dropped: 2 });
      expect(await apply(ann, [said(ann, "prefers WINDOW seats!", { at: later(1).toISOString() })], later(3))).toMatchObject({
        dropped: 1,
      });
      expect(await everything(ann)).toEqual([]);
      await apply(ann, [said(ann, "Prefers window seats", { at: later(4).toISOString() })], later(4));
      expect(texts((await memory.list(ann, { as_of: later(5).toISOString() })).data)).toEqual(["Prefers window seats"]);
    });

    test("operations confirm, supersede and forget by target", async () => {
      const jazz = said(ann, "Prefers jazz", { aspect: "jazz", confidence: 0.8 });
      const opera = said(ann, "Likes opera", { aspect: "opera" });
      const home = said(ann, "Lives in Leeds", { category: "location", aspect: "home", type: "fact" });
      await apply(ann, [jazz, opera, home]);
      const at = later(1).toISOString();
      const source = { session_id: "s2", turn: 1, message_id: "later", quote: "…" };
      const outcome = await apply(
        ann,
        [
          { op: "confirm", target_id: jazz.memory_id, stated_at: at, source },
          {
            op: "supersede",
            memory_id: memoryIdOf(ann, "s2", "later", 1),
            target_id: home.memory_id,
            stated_at: at,
            source,
            statement: null,
          },
          { op: "forget", target_id: opera.memory_id, stated_at: at, source },
        ],
        later(1),
      );
      expect(outcome).toEqual({
        stored: [],
        confirmed: [jazz.memory_id],
        superseded: [home.memory_id],
        forgotten: [opera.memory_id],
        dropped: 0,
      });
      const confirmed = await memory.get(ann, jazz.memory_id);
      expect(confirmed).toMatchObject({ seen_count: 2, last_confirmed_at: at });
      expect(confirmed.confidence).toBeGreaterThan(0.8);
      expect(texts((await memory.list(ann, { as_of: later(2).toISOString() })).data)).toEqual(["Prefers jazz"]);
    });

    test("a memory added by hand can be repeated with its key, edited with its history, and found", async () => {
      const request = { key: "k", requestHash: "h" };
      const added = await memory.add(ann, statement("Likes opera"), { request, now: NOW });
      expect(await memory.add(ann, statement("Likes opera"), { request, now: NOW })).toEqual(added);
      const another = memory.add(ann, statement("Likes jazz"), { request: { key: "k", requestHash: "x" }, now: NOW });
      await expect(another).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
      const { id } = added;
      expect(added).toMatchObject({ id, source: null, status: "active" });
      const recategorised = await memory.patch(ann, id, { category: "other", tags: ["mine"] }, { now: NOW });
      expect(recategorised).toMatchObject({ id, category: "other", tags: ["mine"], text: "Likes opera" });
      const edited = await memory.patch(ann, id, { text: "Likes Italian opera" }, { now: NOW });
      expect(edited.id).not.toBe(id);
      expect(await memory.get(ann, id)).toMatchObject({ status: "superseded", superseded_by: edited.id });
      expect(await active(ann)).toEqual(["Likes Italian opera"]);
      expect((await memory.history(ann, edited.id)).flatMap(({ event, text }) => (text === null ? [] : [[event, text]]))).toEqual([
        ["added", "Likes opera"],
        ["edited", "Likes Italian opera"],
      ]);
    });

    test("what tells by which names companions go is given beside what must hold, while it holds", async () => {
      const add = async (said: NewStatement) => (await memory.add(ann, said, { now: NOW })).id;
      await add({ text: "Husband is allergic to nuts", category: "dietary", subject: "companion:husband" });
      const name = await add({ text: "Husband's name is Karl", category: "companions", subject: "companion:husband", entities: ["Karl"] });
      await add({ text: "Likes opera", category: "genre" });
      const told = async () => texts((await memory.companions?.(ann, { now: NOW })) ?? []);
      expect(await told()).toEqual(["Husband's name is Karl"]);
      expect(texts(await memory.needs(ann, { now: NOW }))).toEqual(["Husband is allergic to nuts"]);
      await memory.forget(ann, name, { now: NOW });
      expect(await told()).toEqual([]);
    });

    test("by hand, what must hold does without a word about it: strength and type are the category's own", async () => {
      const added = async (said: NewStatement) => {
        const { type, strength } = await memory.add(ann, said, { now: NOW });
        return [type, strength];
      };
      expect(await added({ text: "Allergic to shellfish", category: "dietary" })).toEqual(["constraint", "hard"]);
      expect(await added({ text: "Uses a wheelchair", category: "accessibility" })).toEqual(["constraint", "hard"]);
      expect(await added({ text: "Likes opera", category: "genre" })).toEqual(["preference", "soft"]);
      expect(await added({ text: "Likes vegan brunch", category: "dietary", strength: "soft" })).toEqual(["preference", "soft"]);
      expect(await added({ text: "Never in a basement", category: "venue", strength: "hard" })).toEqual(["constraint", "hard"]);
      expect(texts(await memory.needs(ann, { now: NOW }))).toEqual(["Allergic to shellfish", "Never in a basement", "Uses a wheelchair"]);
    });

    test("by hand, a secret is refused, in a new memory and in an edit, with nothing half-stored", async () => {
      for (const text of ["Card 4111 1111 1111 1111", "The password is hunter2"]) {
        expect(await code(memory.add(ann, { text, category: "other" }, { now: NOW }))).toBe("MEMORY_REFUSED");
      }
      expect(await everything(ann)).toEqual([]);
      const jazz = await memory.add(ann, { text: "Likes jazz", category: "genre" }, { now: NOW });
      expect(await code(memory.patch(ann, jazz.id, { text: "Likes jazz; PIN: 4711" }, { now: NOW }))).toBe("MEMORY_REFUSED");
      expect((await memory.get(ann, jazz.id)).text).toBe("Likes jazz");
    });

    test("a message that asked to forget one thing may state another", async () => {
      await apply(ann, [said(ann, "Likes techno", { message: "source" })]);
      const [techno] = (await memory.list(ann, {})).data;
      const at = later(1);
      await memory.forget(ann, techno?.id ?? "", { now: at, askedIn: ["asking"] });
      const claims = [said(ann, "Likes techno", { message: "asking", index: 1 }), said(ann, "Likes jazz", { message: "asking" })];
      await apply(ann, claims, at);
      expect(await active(ann)).toEqual(["Likes jazz"]);
      await apply(ann, [said(ann, "Likes loud nights", { message: "source", index: 2 })], at);
      expect(await active(ann)).toEqual(["Likes jazz"]);
    });

    when("paging")("lists newest first, page by page, each once, also within one second", async () => {
      const operations = Array.from({ length: 23 }, (_, n) =>
        said(ann, `Likes the ${ordinal(n)} band`, {
          category: "artist",
          aspect: `band ${n}`,
          at: new Date(NOW.getTime() - (n % 4) * 1000).toISOString(),
        }),
      );
      await apply(ann, operations);
      const seen = await collected(everyItem((at) => memory.list(ann, { limit: 5, category: "artist", ...at })));
      expect(texts(seen)).toEqual(texts(operations.map((operation) => operation.statement)));
      const order = seen.map(({ stated_at, id }) => ({ stated_at, id }));
      expect(order).toEqual(
        [...order].sort((a, b) => (a.stated_at === b.stated_at ? (a.id < b.id ? -1 : 1) : a.stated_at < b.stated_at ? 1 : -1)),
      );
      expect(await code(memory.list(ann, { cursor: "nonsense" }))).toBe("INVALID_CURSOR");
      const first = await memory.list(ann, { limit: 5, category: "artist" });
      expect(await code(memory.list(ann, { limit: 5, cursor: first.nextCursor ?? "" }))).toBe("INVALID_CURSOR");
    });

    when("search")("search keeps to its filters", async () => {
      await apply(ann, [
        said(ann, "Likes the opera house", { category: "venue", aspect: "opera house" }),
        said(ann, "Likes opera", { aspect: "opera" }),
        said(ann, "Went to the opera in May", { category: "other", type: "episodic" }),
      ]);
      expect(texts(await memory.search(ann, { text: "opera", category: "venue" }))).toEqual(["Likes the opera house"]);
      expect(texts(await memory.search(ann, { text: "opera", type: "episodic" }))).toEqual(["Went to the opera in May"]);
      expect(await memory.search(ann, { text: "opera", limit: 2 })).toHaveLength(2);
    });

    test("nothing of one owner is seen or changed by another", async () => {
      const operation = said(ann, "Prefers jazz concerts", { aspect: "jazz" });
      await apply(ann, [operation]);
      const before = await memory.get(ann, operation.memory_id);
      const { memory_id: id } = operation;
      expect(await recall(bob, "Prefers jazz concerts")).toMatchObject({ status: "empty", memories: [] });
      expect(await memory.search(bob, { text: "Prefers jazz concerts" })).toEqual([]);
      expect((await memory.list(bob, { includeSuperseded: true })).data).toEqual([]);
      for (const work of [
        () => memory.get(bob, id),
        () => memory.patch(bob, id, { text: "Prefers polka" }, { now: NOW }),
        () => memory.approve(bob, id, { now: NOW }),
        () => memory.history(bob, id),
        () => memory.forget(bob, id, { now: NOW }),
      ])
        expect(await code(work())).toBe("MEMORY_NOT_FOUND");
      const source = { session_id: "s9", turn: 1, message_id: "m9", quote: "…" };
      const at = NOW.toISOString();
      const outcome = await apply(bob, [
        { op: "confirm", target_id: id, stated_at: at, source },
        { op: "forget", target_id: id, stated_at: at, source },
        { op: "supersede", memory_id: memoryIdOf(bob, "s9", "m9", 0), target_id: id, stated_at: at, source, statement: null },
      ]);
      expect(outcome).toEqual({ stored: [], confirmed: [], superseded: [], forgotten: [], dropped: 3 });
      expect(await memory.detachSession(bob, "s1", "delete")).toBe(0);
      expect(await memory.forgetAll(bob, { now: NOW })).toBe(0);
      expect(await memory.erase(bob)).toEqual({ memories: 0, history_entries: 0 });
      expect(await memory.get(ann, id)).toEqual(before);
    });

    test("ids that can't be one are not found", async () => {
      for (const id of ["", "*", "../x", "not-a-uuid", "\u0000"]) expect(await code(memory.get(ann, id))).toBe("MEMORY_NOT_FOUND");
    });

    test("a purged session takes its memories along, or leaves them without their quotes", async () => {
      const kept = said(ann, "Prefers jazz", { aspect: "jazz", session: "s1" });
      const gone = said(ann, "Likes opera", { aspect: "opera", session: "s2" });
      await apply(ann, [kept, gone]);
      expect(await memory.detachSession(ann, "s2", "delete")).toBe(1);
      expect(await memory.detachSession(ann, "s1", "drop-quotes")).toBe(1);
      expect(await active(ann)).toEqual(["Prefers jazz"]);
      expect((await memory.get(ann, kept.memory_id)).source).toEqual({ ...kept.source, quote: "" });
    });

    when("restore")("what is exported can be erased and taken back, ids kept", async () => {
      const first = said(ann, "Prefers aisle seats", { category: "seating", aspect: "position" });
      const second = said(ann, "Prefers window seats", { category: "seating", aspect: "position", at: later(1).toISOString() });
      await apply(ann, [first, second, said(ann, "Likes opera", { review: true })], later(1));
      const exported = await everything(ann);
      expect(exported).toHaveLength(3);
      expect(await memory.erase(ann)).toMatchObject({ memories: 3 });
      expect(await memory.residue(ann)).toBe(0);
      expect(await everything(ann)).toEqual([]);
      expect(await memory.restore(ann, exported)).toBe(3);
      expect(await memory.restore(ann, exported)).toBe(0);
      expect(await everything(ann)).toEqual(exported);
    });

    when("restore")("what happened to a memory comes back with it, for a copy under another id too", async () => {
      const added = await memory.add(ann, statement("Prefers row C", { category: "seating", aspect: "row" }), { now: NOW });
      clock.turnTo(later(1));
      const edited = await memory.patch(ann, added.id, { text: "Prefers row D" }, { now: later(1) });
      const past = await memory.history(ann, edited.id);
      expect(past.map(({ event }) => event)).toEqual(["added", "edited", "superseded"]);
      const exported = await Promise.all(
        (await everything(ann)).map(async (each) => ({ ...each, history: await memory.history(ann, each.id) })),
      );
      await memory.restore(bob, exported);
      const copy = (await memory.list(bob, {})).data.find(({ text }) => text === "Prefers row D");
      expect((await memory.history(bob, copy?.id ?? "")).map(({ event, text }) => [event, text])).toEqual(
        past.map(({ event, text }) => [event, text]),
      );
      await memory.erase(ann);
      await memory.restore(ann, exported);
      expect(await memory.history(ann, edited.id)).toEqual(past);
    });

    when("restore")("another owner's export makes copies, and touches nothing of theirs", async () => {
      const operation = said(ann, "Prefers jazz", { aspect: "jazz" });
      await apply(ann, [operation]);
      const exported = await everything(ann);
      expect(await memory.restore(bob, exported)).toBe(1);
      expect(await active(bob)).toEqual(["Prefers jazz"]);
      await memory.erase(bob);
      expect(await active(ann)).toEqual(["Prefers jazz"]);
    });

    test("forgetting all leaves nothing, and what was said before stays away", async () => {
      const operation = said(ann, "Prefers jazz", { aspect: "jazz" });
      await apply(ann, [operation, said(ann, "Likes opera", { aspect: "opera" })]);
      expect(await memory.forgetAll(ann, { now: later(1) })).toBe(2);
      expect(await everything(ann)).toEqual([]);
      expect(await apply(ann, [operation], later(2))).toMatchObject({ stored: [], dropped: 1 });
    });

    test("an aborted write says so", async () => {
      const signal = AbortSignal.abort();
      expect(await code(memory.apply(ann, [said(ann, "Prefers jazz")], { now: NOW, signal }))).toBe("ABORTED");
    });
  });
}

/** Words, so that numbers don't make texts alike. */
function ordinal(n: number): string {
  const letters = "bcdfghklmnprstvz";
  return `${letters[n % 16]}o${letters[Math.floor(n / 16) % 16]}a${letters[(n * 7) % 16]}e`;
}
