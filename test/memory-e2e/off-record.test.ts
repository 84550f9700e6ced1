import { describe, expect, test } from "vitest";
import { takeOffRecord } from "../../src/after-turn/off-record.js";
import { statementSchema } from "../../src/domain/memory.js";
import { readTurnsOffRecord } from "../../src/domain/off-record.js";
import { memoryIdOf, ownerOf } from "../../src/domain/owner.js";
import { searchable } from "../../src/history/history.js";
import type { CheckedOperation, CheckedReading } from "../../src/memories/checked-operation.js";
import type { ReadMessage } from "../../src/memories/memories.js";
import { newId } from "../../src/platform/ids.js";
import { makeSummaryWorld } from "../after-turn/upkeep-world.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";

const ada = ownerOf("default", "ada");
const SESSION = newId();

const add = (index: number, quote: string, text: string, category: string, need: string | null = null) => ({
  op: "add" as const,
  index,
  target_id: null,
  quote,
  statement: statementSchema.parse({ text, category, aspect: text, about: quote, strength: need === null ? "soft" : "hard", need }),
  waits: null,
  brought_along: false,
});

/** What the reader says of each message. */
function reader(said: Record<string, Partial<CheckedReading>>): ReadMessage {
  return async ({ text }) => ({ reader: "scripted", operations: [], off_record: null, dropped: {}, ...said[text] });
}

function message(turn: number, text: string) {
  return {
    session_id: SESSION,
    turn,
    message_id: `m${turn}`,
    text,
    stated_at: new Date("2026-03-11T10:00:00Z"),
    time_zone: "UTC",
    channel: "api",
    context: [],
  };
}
const options = { now: new Date("2026-03-11T10:00:00Z"), signal: new AbortController().signal };

describe("off the record", () => {
  test("of a message that is itself off the record only the name of what must hold is kept, and waits", async () => {
    const longTerm = new InMemoryLongTerm(undefined, {
      readMessage: reader({
        both: {
          off_record: "this",
          operations: [add(0, "jazz", "Likes jazz", "genre"), add(1, "nuts", "Is allergic to nuts", "dietary", "no_nuts")],
        },
      }),
    });
    const given = await longTerm.remember(ada, message(1, "both"), options);
    expect(given).toMatchObject({
      off_record: "this",
      to_confirm: [{ text: "No nuts", about: "", source: { quote: "" }, reason: "off_record", status: "review" }],
    });
    expect((await longTerm.list(ada, {})).data).toEqual([]);
    const [waiting] = await longTerm.toConfirm(ada, { talk: true });
    await longTerm.approve(ada, waiting?.id ?? "", options);
    expect((await longTerm.list(ada, {})).data).toMatchObject([{ text: "No nuts", need: "no_nuts", status: "active" }]);
    expect(JSON.stringify(await entriesOf(longTerm))).not.toMatch(/allergic|jazz/i);
  });

  test.each<[string, Pick<CheckedOperation, "waits"> & Partial<Pick<CheckedOperation, "op">> & Record<string, unknown>, string[]]>([
    ["that no name tells", { category: "other", waits: null }, []],
    ["that no name tells, put to somebody", { category: "other", subject: "companion:husband", waits: null }, []],
    ["of a category, which names nobody", { category: "dietary", subject: "companion:husband", waits: null }, ["self Dietary"]],
    ["of a category, and in doubt", { category: "dietary", waits: "not_named" }, []],
    ["of a need, and in doubt, which names nobody", { need: "no_nuts", subject: "companion:husband", waits: "unsure" }, ["self No nuts"]],
    ["in place of another", { need: "no_nuts", waits: null, op: "supersede" }, ["self No nuts"]],
    ["of a need that was said plainly", { need: "no_nuts", subject: "companion:husband", waits: null }, ["companion:husband No nuts"]],
  ])("[off-record-unsaid] something hard %s", async (_what, { waits, op = "add", ...statement }, waiting) => {
    const hard = { text: "Is leaving", about: "leaving", strength: "hard", category: "dietary", need: "other", ...statement };
    const operation = { ...add(0, "leaving", "Is leaving", "other"), op, statement: statementSchema.parse(hard), waits };
    for (const off_record of ["this", null] as const) {
      const longTerm = new InMemoryLongTerm(undefined, { readMessage: reader({ said: { off_record, operations: [operation] } }) });
      const { to_confirm } = await longTerm.remember(ada, message(1, "said"), options);
      // Said off the record at once, or taken back afterwards: the same is left.
      const left = off_record === "this" ? to_confirm : await longTerm.takeOffRecord(ada, ["m1"], options);
      expect(left.map(({ subject, text }) => `${subject} ${text}`)).toEqual(waiting);
      expect((await longTerm.list(ada, {})).data).toEqual([]);
      expect(JSON.stringify(await entriesOf(longTerm))).not.toMatch(/leaving/i);
    }
  });

  test("of the message before: what it alone gave goes, what must hold waits, what it had replaced comes back; twice is once", async () => {
    const old = memoryIdOf(ada, SESSION, "m1", 0);
    const longTerm = new InMemoryLongTerm(undefined, {
      readMessage: reader({
        aisle: { operations: [add(0, "aisle", "Prefers aisle seats", "seating")] },
        box: {
          operations: [
            { ...add(0, "box", "Prefers box seats", "seating"), op: "supersede", target_id: old },
            add(1, "nuts", "Is allergic to nuts", "dietary", "no_nuts"),
          ],
        },
      }),
    });
    await longTerm.remember(ada, message(1, "aisle"), options);
    await longTerm.remember(ada, message(2, "box"), options);
    for (let times = 0; times < 2; times += 1) {
      const waiting = await longTerm.takeOffRecord(ada, ["m2"], options);
      expect(waiting).toMatchObject([{ text: "No nuts", status: "review", reason: "off_record" }]);
      expect((await longTerm.list(ada, {})).data.map(({ text }) => text)).toEqual(["Prefers aisle seats"]);
      expect((await longTerm.needs(ada, options)).map(({ text }) => text)).toEqual(["No nuts"]);
      expect(JSON.stringify(await entriesOf(longTerm))).not.toMatch(/allergic|box/i);
    }
    expect(await longTerm.remembered(ada, "m2")).toMatchObject({ to_confirm: [{ reason: "off_record" }] });
  });

  test("is journalled, leaves history and summary, and stays in the conversation", async () => {
    const world = await makeSummaryWorld(null, { windowRounds: 1, blockRounds: 1 });
    const { store, writer, clock, keeper } = world;
    const removed: string[] = [];
    const history = { removeMessages: async (_owner: unknown, ids: readonly string[]) => removed.push(...ids) };
    const taken: (readonly string[])[] = [];
    const sessionId = await conversation(world, ["I like jazz", "My PIN story: opera house", "Please don't keep that", "Thanks"]);
    await keeper.maintain(ada, sessionId);
    expect((await store.index.get(ada, sessionId))?.summary).toMatch(/opera/);

    const parts = {
      store,
      writer,
      history,
      turns: {
        takeOffRecord: async (_owner: unknown, ids: readonly string[]) => {
          taken.push(ids);
          return [];
        },
      },
      describeAnew: (owner: typeof ada, id: string, turn: number) => keeper.offRecord(owner, id, turn),
      clock,
    };
    const asked = { owner: ada, sessionId, turn: 3, which: "previous", signal: options.signal } as const;
    for (let times = 0; times < 2; times += 1) expect(await takeOffRecord(parts, asked)).toBe(2);

    const marks = [];
    for await (const record of store.journal.read(ada, sessionId)) if (record.type === "off_record") marks.push(record.body.of_turn);
    expect(marks).toEqual([2]);
    expect(await readTurnsOffRecord(store.journal.read(ada, sessionId))).toEqual(new Set([2]));
    expect(taken[0]).toHaveLength(2);
    expect(new Set(removed)).toEqual(new Set(taken[0]));
    const found = [];
    for await (const each of searchable(store, ada, sessionId)) found.push(each.turn);
    expect([...new Set(found)]).toEqual([1, 3, 4]);
    expect((await store.index.get(ada, sessionId))?.summary).not.toMatch(/opera/);
    expect((await store.journal.window(ada, sessionId, { rounds: 9 })).rounds.map(({ turn }) => turn)).toEqual([1, 2, 3, 4]);
  });

  test("nothing is before the first turn", async () => {
    const world = await makeSummaryWorld();
    const sessionId = await conversation(world, ["Please don't keep that"]);
    const never = () => Promise.reject(new Error("nothing was to be taken out"));
    const parts = { ...world, turns: { takeOffRecord: never }, describeAnew: never };
    expect(await takeOffRecord(parts, { owner: ada, sessionId, turn: 1, which: "previous", signal: options.signal })).toBeNull();
  });
});

async function entriesOf(longTerm: InMemoryLongTerm): Promise<unknown[]> {
  const entries = [];
  for await (const entry of longTerm.log.read(ada)) entries.push(entry);
  return entries;
}

async function conversation({ writer }: Awaited<ReturnType<typeof makeSummaryWorld>>, said: readonly string[]): Promise<string> {
  const sessionId = newId();
  const at = "2026-03-11T10:00:00.000Z";
  await writer.create(ada, sessionId, [{ type: "session", id: newId(), turn: 0, at, body: { owner: ada } }]);
  for (const [index, content] of said.entries()) {
    const turn = index + 1;
    await writer.append(ada, sessionId, [
      { type: "message", id: newId(), turn, at, body: { role: "user", content } },
      { type: "message", id: newId(), turn, at, body: { role: "assistant", content: `Answer to: ${content}`, outcome: "completed" } },
    ]);
  }
  return sessionId;
}
