import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { ReadMessage } from "../../src/memories/memories.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";
import { InMemoryStore } from "../support/in-memory-store.js";
import { InMemoryMemoryLog, InMemoryOwnerLedger } from "../support/memory-stores.js";

const ann = ownerOf("default", "ann");
const NOW = new Date("2026-03-01T12:00:00.000Z");
const clock = { now: () => NOW };
const signal = new AbortController().signal;

function open(dropped: Readonly<Record<string, number>> = {}) {
  const ledger = new InMemoryOwnerLedger();
  const parts = { ledger, log: new InMemoryMemoryLog(ledger), store: new InMemoryStore(clock) };
  const read: string[] = [];
  const readMessage: ReadMessage = async ({ text }) => {
    read.push(text);
    return { reader: "scripted", operations: [], off_record: null, dropped };
  };
  const start = () => new InMemoryLongTerm(clock, { readMessage, ...parts });
  const say = (memory: InMemoryLongTerm, text: string) =>
    memory.remember(
      ann,
      { session_id: "s", turn: 1, message_id: text, text, stated_at: NOW, time_zone: "UTC", channel: "api", context: [] },
      { now: NOW, signal },
    );
  return { ...parts, read, start, say };
}

test("[write-back-once] a message that changes nothing leaves nothing in the log, and is not read again while the process lasts", async () => {
  const { log, read, start, say } = open();
  const memory = start();
  for (let times = 0; times < 3; times++) expect((await say(memory, "What is on?")).memories).toEqual([]);
  expect(read).toEqual(["What is on?"]);
  expect(await log.lastSeq(ann)).toBe(0);
  await say(start(), "What is on?");
  expect(read).toHaveLength(2);
});

test("[write-back-once] a message of which something was refused stands in the log, and is not read again by another process", async () => {
  const { log, read, start, say } = open({ over: 1 });
  await say(start(), "What is on?");
  expect((await say(start(), "What is on?")).dropped).toEqual({ over: 1 });
  expect(read).toHaveLength(1);
  expect(await log.lastSeq(ann)).toBe(1);
});

test("[write-back-once] a store that is older than the log is asked once for what it holds, and not at every message that changes nothing", async () => {
  const { store, start, say } = open();
  const memory = start();
  await say(memory, "What is on?");
  let asked = 0;
  const all = store.all.bind(store);
  store.all = (owner) => {
    asked += 1;
    return all(owner);
  };
  for (const text of ["And tomorrow?", "And on Sunday?"]) await say(memory, text);
  expect(asked).toBe(0);
});
