import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { NewRecord } from "../../../src/domain/session.js";
import { newId } from "../../../src/platform/ids.js";
import type { FileSessionStore } from "../../../src/state/jsonl/file-session-store.js";
import { openFileStore } from "../../support/file-store.js";
import { ALICE, BOB, JournalRecords } from "../../support/journal-records.js";

const NOW = Date.parse("2026-03-02T10:00:00Z");
const LEASE_MS = 15_000;
const records = new JournalRecords();
let dir: string;
let store: FileSessionStore;
let id: string;
let nowMs: number;
const clock = { now: () => new Date(nowMs) };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-claims-"));
  nowMs = NOW;
  ({ store } = await openFileStore({ dir, clock, engineClock: clock }));
  id = newId();
  await store.index.apply(ALICE, id, await store.journal.create(ALICE, id, [records.session(ALICE)]));
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

async function append(...added: NewRecord[]): Promise<void> {
  await store.index.apply(ALICE, id, await store.journal.append(ALICE, id, added));
}

async function claimed(at = NOW, except: (typeof ALICE)[] = []): Promise<number[]> {
  nowMs = at;
  return (await store.turns.claim(nowMs, 5, { leaseMs: LEASE_MS, except })).map(({ turn }) => turn);
}

/** A claim at the same moment, after a look that found nothing and what is done since. */
async function afterNothing(change: () => Promise<unknown>): Promise<number[]> {
  expect(await claimed()).toEqual([]);
  expect(await claimed()).toEqual([]);
  await change();
  return claimed();
}

const turn = (number: number) => ({ owner: ALICE, sessionId: id, turn: number });

test("a turn that becomes free right after a look that found none is found by the next one", async () => {
  expect(await afterNothing(() => append(...records.round(1)))).toEqual([1]);
  expect(await afterNothing(() => store.turns.letGo(turn(1)))).toEqual([1]);
  await append(...records.round(2));
  expect(await afterNothing(() => append(records.done(1)))).toEqual([2]);
  const later = { attempts: 1, dueAtMs: NOW + 60_000, errorCode: "EXTRACTION_FAILED" };
  await store.turns.recordAttempt({ owner: ALICE, sessionId: id, turn: 2 }, later);
  expect(await afterNothing(() => store.turns.recordAttempt({ owner: ALICE, sessionId: id, turn: 2 }, { ...later, dueAtMs: NOW }))).toEqual(
    [2],
  );
  await append(records.done(2, "failed"));
  expect(await afterNothing(() => store.turns.retryFailed(ALICE, id, NOW))).toEqual([2]);
});

test("so is one whose elder is taken back", async () => {
  await append(...records.round(1));
  expect(await claimed()).toEqual([1]);
  await store.turns.recordAttempt(
    { owner: ALICE, sessionId: id, turn: 1 },
    { attempts: 1, dueAtMs: NOW + 60_000, errorCode: "EXTRACTION_FAILED" },
  );
  expect(await afterNothing(() => append(records.rewind(2, 1), records.user(2), records.assistant(2)))).toEqual([2]);
});

test("it comes due with time, its lease ends, and other owners are asked for", async () => {
  await append(...records.round(1));
  expect(await claimed(NOW, [ALICE])).toEqual([]);
  expect(await claimed(NOW, [BOB])).toEqual([1]);
  expect(await claimed()).toEqual([]);
  expect(await claimed(NOW + LEASE_MS + 1)).toEqual([1]);
  await store.turns.recordAttempt(
    { owner: ALICE, sessionId: id, turn: 1 },
    { attempts: 1, dueAtMs: NOW + LEASE_MS + 60, errorCode: "EXTRACTION_FAILED" },
  );
  expect(await claimed(NOW + LEASE_MS)).toEqual([]);
  expect(await claimed(NOW + LEASE_MS + 60)).toEqual([1]);
});
