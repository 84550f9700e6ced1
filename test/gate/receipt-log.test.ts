import { expect, test, vi } from "vitest";
import { mergedId, ownerOf } from "../../src/domain/owner.js";
import { receiptProblems } from "../../src/gate/booking-receipt.js";
import { ReceiptLog } from "../../src/gate/receipt-log.js";
import { judge } from "../../src/gate/verdict.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { FaultyEngine } from "../state/faulty-engine.js";
import { constraint } from "../support/constraints.js";

const ADA = ownerOf("default", "ada");
const BOB = ownerOf("default", "bob");
const NOW = new Date("2026-12-01T09:00:00Z");
const candidate = { startsAt: null, check: () => ({ state: "met" as const }) };
const party = { companions: [], absent: [], size: 1, said: [], sessionId: "s" };

function bookedWith(line: string, needs: readonly string[], mentioned: readonly string[] = []) {
  const known = needs.map((id) => constraint(`Needs ${id}`, "accessibility", "self", { id }));
  const verdict = judge({ known, complete: true }, candidate, party, NOW);
  const mentions = mentioned.map((id) => ({ id, line: `You told me ${id}.`, along: true }));
  return { tool: "book", line, verdict: { ...verdict, mentions: [...verdict.mentions, ...mentions] } };
}

async function logOf(known: Set<string> | null) {
  const log = new ReceiptLog(new MemoryEngine(), known && (async () => known));
  const add = (turn: number, ...booked: Parameters<typeof bookedWith>) =>
    log.add({ owner: ADA, sessionId: `s${turn}`, turn, now: NOW }, bookedWith(...booked));
  const told = async () => (await log.list(ADA, 100)).map(({ number, body }) => [number, body === null ? null : body.booked]);
  return { log, add, told };
}

test("receipts are a chain, newest first, and the same booking of a turn has one", async () => {
  const { log, add, told } = await logOf(new Set(["a"]));
  await add(1, "Jazz", ["a"]);
  await Promise.all([add(2, "Opera", ["a"]), add(2, "Opera", ["a"]), add(3, "Dinner", [])]);
  expect(await told()).toHaveLength(3);
  expect((await told()).at(-1)).toEqual([1, "Jazz"]);
  expect(receiptProblems(await log.list(ADA, 100))).toEqual([]);
  expect(await log.list(ADA, 1)).toMatchObject([{ number: 3 }]);
});

test("what tells of a memory that is no more, for whatever reason, is not shown, and then taken out; the chain holds", async () => {
  const known = new Set(["a", "b", "c"]);
  const { log, add, told } = await logOf(known);
  await add(1, "Jazz", ["a"]);
  await add(2, "Opera", ["b"], ["booking:1"]);
  await add(3, "Dinner", [], ["c"]);
  known.delete("a");
  known.delete("c");
  expect(await told()).toEqual([
    [3, null],
    [2, "Opera"],
    [1, null],
  ]);
  expect(await log.forgotten(ADA)).toBe(2);
  expect(await log.forgotten(ADA)).toBe(0);
  known.add("a").add("c");
  expect((await told()).map(([, booked]) => booked)).toEqual([null, "Opera", null]);
  expect(receiptProblems(await log.list(ADA, 100))).toEqual([]);
  expect(await log.withoutMemories(ADA, new Set(["b"]))).toBe(1);
});

test("where long-term memory is off what tells of memories is not shown, and stays", async () => {
  const engine = new MemoryEngine();
  await new ReceiptLog(engine, async () => new Set(["a"])).add(
    { owner: ADA, sessionId: "s", turn: 1, now: NOW },
    bookedWith("Jazz", ["a"]),
  );
  const off = new ReceiptLog(engine, null);
  expect(await off.list(ADA, 10)).toMatchObject([{ body: null }]);
  expect(await off.forgotten(ADA)).toBe(0);
  expect(await new ReceiptLog(engine, async () => new Set(["a"])).list(ADA, 10)).toMatchObject([{ body: { booked: "Jazz" } }]);
});

test("more than a page of them is emptied by conversation, and erased", async () => {
  const { log, add } = await logOf(new Set(["a"]));
  for (let turn = 1; turn <= 120; turn++) await add(turn, "Jazz", ["a"]);
  expect(await log.detachSession(ADA, "s119")).toBe(1);
  expect(await log.detachSession(ADA, "earlier")).toBe(119);
  expect(await log.residue(ADA)).toBe(120);
  expect(await log.erase(ADA)).toEqual({ booking_receipts: 120 });
  expect(await log.residue(ADA)).toBe(0);
  await add(1, "Jazz", ["a"]);
  expect(await log.list(ADA, 10)).toMatchObject([{ number: 1, prev: null }]);
});

test("[merge-finished] receipts that another user is given go behind their own, each once however often it is tried, and are taken out again", async () => {
  const engine = new MemoryEngine();
  const users = { id: "m", from: ADA, to: BOB, at: NOW.toISOString() };
  const known = new Map([
    [ADA, new Set(["a", "b", "c"])],
    [BOB, new Set(["bobs", mergedId("memory", BOB, "m", "b")])],
  ]);
  const log = new ReceiptLog(engine, async (owner) => known.get(owner) ?? new Set());
  for (let turn = 1; turn <= 60; turn++)
    await log.add({ owner: ADA, sessionId: `s${turn}`, turn, now: NOW }, bookedWith(`Jazz ${turn}`, ["a", "b"], ["booking:1"]));
  await log.add({ owner: ADA, sessionId: "s", turn: 61, now: NOW }, bookedWith("Opera", ["c"]));
  await log.detachSession(ADA, "s7");
  await log.add({ owner: BOB, sessionId: "s", turn: 1, now: NOW }, bookedWith("Dinner", ["bobs"]));
  const standing = new Map([["a", "bobs"]]);
  expect(await log.takeOver(users, standing)).toBe(61);
  expect(await log.takeOver(users, standing)).toBe(0);
  const given = await log.list(BOB, 100);
  expect(given.map(({ number }) => number)).toEqual(Array.from({ length: 62 }, (_, place) => 62 - place));
  expect(receiptProblems(given)).toEqual([]);
  // What was taken out stays so, and what tells of something that the other doesn't know is told by nobody.
  expect(given.filter(({ body }) => body === null).map(({ number }) => number)).toEqual([62, 8]);
  expect(given[1]?.body?.checked.needs.map(({ memory_id }) => memory_id)).toEqual(["bobs", mergedId("memory", BOB, "m", "b")]);
  expect(await log.takeOut(users)).toBe(60);
  expect((await log.list(BOB, 100)).flatMap(({ body }) => body?.booked ?? [])).toEqual(["Dinner"]);
  expect(receiptProblems(await log.list(BOB, 100))).toEqual([]);
});

const CRASHES = (["crashBefore", "crashAfter", "loseReply"] as const).flatMap((how) => [1, 2, 3].map((page) => ({ how, page })));

test.for(CRASHES)(
  "[merge-finished] receipts are given once, where $how met page $page and the other booked in between",
  async ({ how, page }) => {
    const engine = new FaultyEngine(new MemoryEngine());
    const log = new ReceiptLog(engine, async () => new Set());
    const users = { id: "m", from: ADA, to: BOB, at: NOW.toISOString() };
    const book = (owner: typeof ADA, turn: number) => log.add({ owner, sessionId: "s", turn, now: NOW }, bookedWith(`Jazz ${turn}`, []));
    for (let turn = 1; turn <= 130; turn++) await book(ADA, turn);
    await book(BOB, 1);
    engine[how](page);
    const died = await log.takeOver(users, new Map()).catch((error: Error) => error);
    expect(died instanceof Error).toBe(how !== "loseReply");
    await book(BOB, 2);
    await new ReceiptLog(engine, null).takeOver(users, new Map());
    expect(engine.waits).toBe(false);
    const given = await log.list(BOB, 200);
    const own = given.filter(({ session_id }) => session_id === "s");
    const taken = given.filter(({ session_id }) => session_id !== "s").map(({ body }) => body?.booked);
    expect(own).toHaveLength(2);
    expect(taken.toReversed()).toEqual(Array.from({ length: 130 }, (_, place) => `Jazz ${place + 1}`));
    expect(receiptProblems(given)).toEqual([]);
    expect(await log.takeOut(users)).toBe(130);
    expect((await log.list(BOB, 200)).flatMap(({ body }) => body?.booked ?? [])).toEqual(["Jazz 2", "Jazz 1"]);
  },
);

test("[merge-finished] receipts of two users are given once each, where the first merge stopped and goes on behind the second", async () => {
  const log = new ReceiptLog(new MemoryEngine(), async () => new Set());
  const eve = ownerOf("default", "eve");
  const book = (owner: typeof ADA, turn: number) => log.add({ owner, sessionId: "s", turn, now: NOW }, bookedWith(`${owner} ${turn}`, []));
  for (const turn of [1, 2, 3]) for (const owner of [ADA, eve]) await book(owner, turn);
  const [first, second] = [ADA, eve].map((from) => ({ id: `of ${from}`, from, to: BOB, at: NOW.toISOString() }));
  if (first === undefined || second === undefined) throw new Error("no merges");
  expect(await log.takeOver(first, new Map())).toBe(3);
  expect(await log.takeOver(second, new Map())).toBe(3);
  expect(await log.takeOver(first, new Map())).toBe(0);
  const given = await log.list(BOB, 100);
  expect(new Set(given.map(({ id }) => id)).size).toBe(6);
  expect(given).toHaveLength(6);
  // An erasure forgets that they were given.
  expect(await log.erase(BOB)).toEqual({ booking_receipts: 6 });
  expect(await log.takeOver(first, new Map())).toBe(3);
});

test("what a merge gives costs what is given: receipts of whoever is given them are not read, nor read again where all are there", async () => {
  const engine = new MemoryEngine();
  const reads = vi.spyOn(engine, "read");
  const log = new ReceiptLog(engine, null);
  const users = { id: "m", from: ADA, to: BOB, at: NOW.toISOString() };
  for (let turn = 1; turn <= 120; turn++) await log.add({ owner: ADA, sessionId: "s", turn, now: NOW }, bookedWith("Jazz", []));
  for (let turn = 1; turn <= 300; turn++) await log.add({ owner: BOB, sessionId: "s", turn, now: NOW }, bookedWith("Opera", []));
  const cost = async () => {
    reads.mockClear();
    await log.takeOver(users, new Map());
    const all = await Promise.all(reads.mock.results.map(({ value }) => value as ReturnType<typeof engine.read>));
    return all.reduce((sum, { entries, ranges }) => sum + entries.size + ranges.flat().length, 0);
  };
  expect(await cost()).toBeLessThan(150);
  expect(await cost()).toBeLessThan(5);
  reads.mockClear();
  expect(await log.takeOut(users)).toBe(120);
  const asked = reads.mock.calls.flatMap(([, { ranges = [] }]) => ranges);
  expect(asked.length).toBeGreaterThan(3);
  for (const { limit } of asked) expect(limit).toBeLessThanOrEqual(50);
});
