import { beforeEach, describe, expect, test } from "vitest";
import { statementSchema } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { CheckedOperation } from "../../src/memories/checked-operation.js";
import { heldMemories } from "../../src/memories/held-memories.js";
import type { ReadMessage } from "../../src/memories/memories.js";
import { madeByCode } from "../../src/memories/statement-record.js";
import { AppError } from "../../src/platform/errors.js";
import { TurnRegistry } from "../../src/turn/turn-registry.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";
import { InMemoryStore } from "../support/in-memory-store.js";
import { InMemoryMemoryLog, InMemoryOwnerLedger } from "../support/memory-stores.js";

const ann = ownerOf("default", "ann");
const NOW = new Date("2026-03-01T12:00:00.000Z");
const clock = { now: () => NOW };
const signal = new AbortController().signal;

/** A message of "nuts!" gives the hard memory "nuts", waiting where it ends with "?". */
function operationOf(word: string, index: number): CheckedOperation {
  const text = word.slice(0, -1);
  const hard = { category: "dietary", strength: "hard", type: "constraint", about: text } as const;
  return {
    op: "add",
    index,
    target_id: null,
    quote: text,
    statement: statementSchema.parse({ text, category: "genre", ...(word.endsWith(".") ? {} : hard) }),
    waits: word.endsWith("?") ? "unsure" : null,
    brought_along: false,
  };
}

let reads = 0;
const readMessage: ReadMessage = async ({ text }) => {
  reads += 1;
  return { reader: "scripted", operations: text.split(" ").map(operationOf), off_record: null, dropped: {} };
};

let ledger: InMemoryOwnerLedger;
let log: InMemoryMemoryLog;
let store: InMemoryStore;
let memory: InMemoryLongTerm;
/** As after a restart, over the same log and store. */
const restart = () => {
  memory = new InMemoryLongTerm(clock, { readMessage, ledger, log, store });
};
beforeEach(() => {
  reads = 0;
  ledger = new InMemoryOwnerLedger();
  log = new InMemoryMemoryLog(ledger);
  store = new InMemoryStore(clock);
  restart();
});

const says = (text: string, message = text, replaces: readonly string[] = []) =>
  memory.remember(
    ann,
    {
      session_id: "s",
      turn: 1,
      message_id: message,
      text,
      stated_at: NOW,
      time_zone: "UTC",
      channel: "api",
      context: [],
      ...(replaces.length > 0 && { replaces }),
    },
    { now: NOW, signal },
  );
const idOf = async (text: string) => {
  for await (const each of memory.all(ann)) if (each.text === text) return each.id;
  return "";
};
const listed = async () => (await memory.list(ann, { includeSuperseded: true })).data.map(({ text, status }) => `${text} ${status}`).sort();
const needs = async () => (await memory.needs(ann, { now: NOW })).map(({ text }) => text).sort();

describe("after each kind of change a lost store is mended from the log, without a model", () => {
  const changes: Record<string, () => Promise<unknown>> = {
    "a turn": () => says("nuts! jazz."),
    "by hand": () => memory.add(ann, { text: "Shellfish", category: "dietary" }, { now: NOW }),
    "a tool": () =>
      memory.apply(
        ann,
        [
          {
            op: "add",
            memory_id: "6f1c1f5e-0000-5000-8000-000000000001",
            stated_at: NOW.toISOString(),
            source: { session_id: "s", turn: 2, message_id: "t", quote: "swing" },
            statement: statementSchema.parse({ text: "swing", category: "genre" }),
            review: false,
          },
        ],
        { now: NOW },
      ),
    "an approval": async () => memory.approve(ann, await idOf("eggs"), { now: NOW }),
    "an edit by hand": async () => memory.patch(ann, await idOf("jazz"), { text: "Loud jazz" }, { now: NOW }),
    "a supersede": async () => memory.patch(ann, await idOf("opera"), { text: "Italian opera" }, { now: NOW }),
    "a forgetting": async () => memory.forget(ann, await idOf("polka"), { now: NOW }),
    "a session's purge": () => memory.detachSession(ann, "s", "drop-quotes"),
    "an edited message": () => says("milk!", "edited", ["nuts! jazz. opera. polka. eggs?"]),
    "an import": async () => {
      const all = [];
      for await (const each of memory.all(ann)) all.push({ ...each, id: each.id.replace(/^.{4}/, "abcd"), text: `${each.text} too` });
      return memory.restore(ann, all);
    },
  };

  test.each(Object.keys(changes))("%s", async (kind) => {
    await says("nuts! jazz. opera. polka. eggs?");
    await changes[kind]?.();
    const [before, hard, count] = [await listed(), await needs(), reads];
    store.lose();
    restart();
    expect(await needs()).toEqual(hard);
    expect(await listed()).toEqual(before);
    expect(reads).toBe(count);
    if (kind === "a forgetting") expect(JSON.stringify(await entries())).not.toContain('polka"');
  });
});

async function entries() {
  const all = [];
  for await (const entry of log.read(ann)) all.push(entry);
  return all;
}

test("a forgetting and the narrative that tells of it are one entry of the log: a kill behind it leaves neither", async () => {
  await says("nuts! jazz.");
  const nuts = await memory.get(ann, await idOf("nuts"));
  const story = { id: "6f1c1f5e-0000-5000-8000-0000000000aa", text: "Can't have nuts.", type: "narrative" } as const;
  const told = { category: "other", aspect: "narrative", explicit: true, entities: [nuts.id] } as const;
  const entry = { kind: "narrative", turn: null, puts: [madeByCode({ ...story, ...told }, nuts.stated_at, NOW)], removed: [] } as const;
  await memory.changes.change(ann, async () => ({ entry, result: null }), { now: NOW });
  expect((await memory.list(ann, { type: "narrative" })).data).toMatchObject([{ id: story.id, status: "active" }]);
  await memory.forget(ann, nuts.id, { now: NOW });
  expect((await entries()).at(-1)).toMatchObject({ kind: "forget", removed: [nuts.id, story.id] });
  restart();
  expect(await listed()).toEqual(["jazz active"]);
  expect(JSON.stringify(await entries())).not.toContain("nuts.");
});

test("a store that is lost while it runs is found out by the next booking", async () => {
  await says("nuts!");
  store.lose();
  expect(await needs()).toEqual(["nuts"]);
});

test("an old copy of the store brings nothing back that was forgotten or erased since", async () => {
  await says("nuts! polka.");
  const putBack = store.copy();
  await memory.forget(ann, await idOf("polka"), { now: NOW });
  putBack();
  restart();
  expect(await listed()).toEqual(["nuts active"]);
  const copy = store.copy();
  const { receiptId } = await ledger.beginErasure(ann, NOW.toISOString());
  await memory.erase(ann);
  const completed_at = new Date(NOW.getTime() + 1).toISOString();
  await ledger.completeErasure(ann, { receipt_id: receiptId, completed_at, erased: {}, verified: true });
  copy();
  restart();
  expect(await needs()).toEqual([]);
  expect(await listed()).toEqual([]);
});

test("an older copy of the log loses nothing that the store still holds, brings nothing back that was forgotten, and is told", async () => {
  await says("nuts! polka. jazz.");
  const [older, polka] = [await entries(), await idOf("polka")];
  await says("eggs!", "later");
  await memory.forget(ann, polka, { now: NOW });
  await memory.patch(ann, await idOf("jazz"), { tags: ["loud"] }, { now: new Date(NOW.getTime() + 1) });
  restart();
  expect(await memory.health()).toEqual({ status: "ok" });
  await log.erase(ann);
  for (const { v: _v, seq, at, ...entry } of older) await log.append(ann, entry, { expectedSeq: seq - 1, now: new Date(at) });
  restart();
  expect(await memory.health()).toMatchObject({ status: "degraded", detail: expect.stringMatching(/logs of 1 owners are shorter/) });
  expect(await needs()).toEqual(["eggs", "nuts"]);
  expect(await listed()).toEqual(["eggs active", "jazz active", "nuts active"]);
  expect((await memory.get(ann, await idOf("jazz"))).tags).toEqual(["loud"]);
  expect((await entries()).at(-1)).toMatchObject({ kind: "seed", removed: [polka] });
  store.lose();
  restart();
  expect(await needs()).toEqual(["eggs", "nuts"]);
  expect(await memory.health()).toEqual({ status: "ok" });
});

test("memories of before there was a log are read into it once, with what the store knows", async () => {
  await says("nuts! jazz.");
  await log.erase(ann);
  restart();
  expect(await needs()).toEqual(["nuts"]);
  expect((await entries()).map(({ kind, puts }) => [kind, puts.length])).toEqual([["seed", 2]]);
});

test("a server that this installation never wrote to is filled on demand alone, and bookings ask until then", async () => {
  store = new InMemoryStore(clock, { remote: true });
  restart();
  await says("nuts!");
  store.lose();
  restart();
  await expect(needs()).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
  expect(await memory.health()).toMatchObject({ status: "degraded", detail: expect.stringContaining("reindex --memories") });
  expect((await memory.recall(ann, { text: "nuts", now: NOW, deadlineMs: 5_000 })).status).toBe("degraded");
  expect(await memory.rebuild({ signal })).toEqual({ owners: 1, memories: 1, failed: 0 });
  expect(await needs()).toEqual(["nuts"]);
  expect(await memory.health()).toEqual({ status: "ok" });
});

test("a turn that was logged and not stored is completed, and read once", async () => {
  await says("jazz.");
  store.failWith = new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
  await expect(says("nuts!")).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_UNAVAILABLE" });
  store.failWith = null;
  expect((await says("nuts!")).memories.map(({ text }) => text)).toEqual(["nuts"]);
  expect(reads).toBe(2);
});

describe("an edited message", () => {
  test("takes back what it alone gave, and keeps what is said again or was confirmed by others", async () => {
    await says("nuts! jazz. eggs!", "first");
    await says("eggs!", "second");
    await says("nuts!", "edited", ["first"]);
    expect(await listed()).toEqual(["eggs active", "nuts active"]);
    expect(await ledger.tombstones(ann)).toEqual([]);
  });

  test("takes its yes back", async () => {
    await says("nuts?", "first");
    const id = await idOf("nuts");
    const source = { session_id: "s", turn: 2, message_id: "yes" };
    await memory.settle(ann, [{ memory_id: id, answer: "yes", quote: "Yes" }], { asked: [id], source, text: "yes, do", now: NOW });
    expect((await memory.get(ann, id)).status).toBe("active");
    await says("tea.", "edited yes", ["yes"]);
    expect((await memory.get(ann, id)).status).toBe("review");
  });
});

test("what waits is settled by the guest's own words, about what they were asked; a no to two at once settles neither", async () => {
  await says("nuts? eggs?");
  const [nuts, eggs] = [await idOf("nuts"), await idOf("eggs")];
  const source = { session_id: "s", turn: 2, message_id: "answer" };
  const settle = (memory_id: string, answer: "yes" | "no", quote: string, asked: readonly string[]) =>
    memory.settle(ann, [{ memory_id, answer, quote }], { asked, source, text: "no, not nuts", now: NOW });
  for (const refused of [settle(nuts, "yes", "yes", [nuts]), settle(nuts, "no", "no", [eggs]), settle(nuts, "no", "no", [nuts, eggs])])
    await expect(refused).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  const pasted = "> Anna wrote: no, not any more\nWhat do you say to that?";
  const answer = { memory_id: nuts, answer: "no", quote: "no, not any more" } as const;
  await expect(memory.settle(ann, [answer], { asked: [nuts], source, text: pasted, now: NOW })).rejects.toThrow(/own words/);
  await memory.asked(ann, [eggs], { now: NOW });
  await memory.asked(ann, [eggs], { now: NOW });
  expect((await memory.toConfirm(ann, { talk: true })).map(({ text }) => text)).toEqual(["nuts"]);
  await settle(nuts, "no", "No", [nuts]);
  expect((await memory.toConfirm(ann, { talk: false })).map(({ text }) => text)).toEqual(["eggs"]);
  expect(await needs()).toEqual(["eggs"]);
});

test("twelve hundred memories are forgotten in a few batches", async () => {
  const all = Array.from({ length: 1_200 }, (_, n) => `b${n}x.`).join(" ");
  await says(all, "many");
  expect(await memory.forgetAll(ann, { now: NOW })).toBe(1_200);
  expect((await entries()).filter(({ kind }) => kind === "forget")).toHaveLength(6);
  expect(await ledger.tombstones(ann)).toHaveLength(1_200);
  expect(await listed()).toEqual([]);
});

test("while an owner is erased, what is added is refused or gone with the rest", async () => {
  const registry = new TurnRegistry();
  const doors = heldMemories(memory, registry);
  const adds = Array.from({ length: 5 }, (_, n) => doors.add(ann, { text: `Likes ${n}`, category: "genre" }, { now: NOW }));
  const { receiptId } = await ledger.beginErasure(ann, NOW.toISOString());
  const release = await registry.hold(ann);
  await expect(doors.add(ann, { text: "Likes jazz", category: "genre" }, { now: NOW })).rejects.toMatchObject({ code: "OWNER_ERASED" });
  await Promise.allSettled(adds);
  await memory.erase(ann);
  expect(await memory.residue(ann)).toBe(0);
  await ledger.completeErasure(ann, { receipt_id: receiptId, completed_at: NOW.toISOString(), erased: {}, verified: true });
  release();
  expect(await listed()).toEqual([]);
});
