import { beforeEach, describe, expect, test } from "vitest";
import { madeOf } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import { HappenedMemories } from "../../src/memories/happened.js";
import { madeByCode } from "../../src/memories/statement-record.js";
import type { Happening } from "../../src/ports/agent.js";
import { LoggedMemoriesFake } from "../support/logged-memories.js";

const ANN = ownerOf("default", "ann");
const NOW = new Date("2026-03-11T10:00:00Z");

let log: LoggedMemoriesFake;
let events: Happening[];
let incognito: Set<string>;
let happened: HappenedMemories;
beforeEach(() => {
  log = new LoggedMemoriesFake();
  events = [];
  incognito = new Set();
  happened = new HappenedMemories({
    changes: log,
    happened: async function* (_, after) {
      for (const event of events) if (after === null || Number(event.cursor) > Number(after)) yield event;
    },
    mayKeep: async (_, sessionId) => !incognito.has(sessionId),
  });
});

function booked(id: string, more: Partial<Happening> = {}): void {
  const cursor = String(events.length + 1);
  const habits = [{ key: "party size:2", text: "Usually books 2 tickets", category: "party_size", aspect: "party size" }];
  const text = `Booked 2 seats for ${id}`;
  const at = `2026-03-${String(events.length + 1).padStart(2, "0")}T10:00:00.000Z`;
  events.push({ id, cursor, at, text, category: "other", entities: [id], session_id: "s", takes_back: null, habits, ...more });
}
const cancelled = (id: string) => booked(`no ${id}`, { takes_back: id, habits: [], text: `Cancelled ${id}` });
const texts = (status = "active") => [...log.records.values()].filter((record) => record.status === status).map(({ text }) => text);
const catchUp = () => happened.catchUp(ANN, { now: NOW });

describe("what a guest did", () => {
  test("is an episodic memory each, once, with its place in the same entry of the log", async () => {
    booked("a");
    booked("b");
    expect(await catchUp()).toBe(2);
    expect(await catchUp()).toBe(0);
    expect(log.entries).toMatchObject([{ kind: "happened", turn: null, happened_cursor: "2", removed: [] }]);
    expect([...log.records.values()]).toMatchObject([
      {
        text: "Booked 2 seats for a",
        type: "episodic",
        explicit: true,
        source: null,
        entities: ["a"],
        stated_at: "2026-03-01T10:00:00.000Z",
      },
      { text: "Booked 2 seats for b" },
    ]);
  });

  test("is there once also where the place was lost, and what was forgotten stays forgotten", async () => {
    booked("a");
    booked("b");
    await catchUp();
    const before = [...log.records.keys()];
    log.forget(before[0] ?? "");
    await log.change(ANN, async () => ({ entry: { kind: "hand", turn: null, puts: [], removed: [], happened_cursor: "0" }, result: null }));
    await catchUp();
    expect([...log.records.keys()]).toEqual(before.slice(1));
  });

  test("is taken up again where the log failed", async () => {
    booked("a");
    log.failing = true;
    await expect(catchUp()).rejects.toThrow("disk");
    expect(log.records.size).toBe(0);
    await catchUp();
    expect(texts()).toEqual(["Booked 2 seats for a"]);
  });

  test("ends with its cancellation", async () => {
    booked("a");
    await catchUp();
    cancelled("a");
    await catchUp();
    expect(texts()).toEqual([]);
    expect([...log.records.values()]).toMatchObject([{ status: "superseded", valid_until: "2026-03-02T10:00:00.000Z" }]);
  });

  test("in an incognito session is not kept", async () => {
    incognito.add("secret");
    booked("a", { session_id: "secret" });
    booked("b");
    await catchUp();
    expect(texts()).toEqual(["Booked 2 seats for b"]);
  });

  test("many events are taken in several entries", async () => {
    for (let index = 0; index < 230; index += 1) booked(`e${index}`, { habits: [] });
    expect(await catchUp()).toBe(230);
    expect(log.entries.map(({ happened_cursor }) => happened_cursor)).toEqual(["100", "200", "230"]);
  });
});

describe("a habit", () => {
  const proposals = () => [...log.records.values()].filter(({ tags }) => tags.includes("habit"));

  test("is proposed after three alike, waits for the guest's word, and names what it was made of", async () => {
    for (const id of ["a", "b"]) booked(id);
    await catchUp();
    expect(proposals()).toEqual([]);
    booked("c");
    await catchUp();
    const made = [...log.records.values()].filter(({ type }) => type === "episodic").map(({ id }) => id);
    expect(proposals()).toMatchObject([
      { text: "Usually books 2 tickets", status: "review", reason: "inferred", explicit: false, source: null },
    ]);
    expect(proposals().map(madeOf)).toEqual([made]);
  });

  test("is proposed once, also after a no, whether it is kept as past or forgotten", async () => {
    for (const id of ["a", "b", "c"]) booked(id);
    await catchUp();
    const [habit] = proposals();
    if (habit === undefined) throw new TypeError("no habit");
    log.records.set(habit.id, { ...habit, status: "superseded" });
    for (const id of ["d", "e", "f"]) booked(id);
    await catchUp();
    expect(proposals()).toMatchObject([{ status: "superseded" }]);
    log.forget(habit.id);
    for (const id of ["g", "h", "i"]) booked(id);
    await catchUp();
    expect(proposals()).toEqual([]);
  });

  test("does not count what was cancelled", async () => {
    for (const id of ["a", "b"]) booked(id);
    cancelled("a");
    booked("c");
    await catchUp();
    expect(proposals()).toEqual([]);
  });

  test("is not proposed of what the guest has stated", async () => {
    const stated = {
      id: "s",
      text: "Usually four of us",
      category: "party_size",
      aspect: "party size",
      type: "preference",
      explicit: true,
    } as const;
    log.records.set("s", madeByCode(stated, NOW.toISOString(), NOW));
    for (const id of ["a", "b", "c"]) booked(id);
    await catchUp();
    expect(proposals()).toEqual([]);
  });
});
