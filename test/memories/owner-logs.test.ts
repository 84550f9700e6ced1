import { expect, test } from "vitest";
import { OwnerLogs } from "../../src/memories/owner-logs.js";
import { Projection } from "../../src/memories/projection.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MemoryStore } from "../../src/ports/memory-store.js";
import { entryOf, NOW } from "../contract/memory-log.contract.js";
import { ALICE } from "../support/journal-records.js";
import { InMemoryMemoryLog, InMemoryOwnerLedger } from "../support/memory-stores.js";

const FORGOTTEN = { kind: "forget", turn: null, puts: [] } as const;

test("[write-back-once] a look that takes forgotten words out of the log leaves what another process writes at the same time", async () => {
  const ledger = new InMemoryOwnerLedger();
  const log = new InMemoryMemoryLog(ledger);
  const put = await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, now: NOW });
  await log.append(ALICE, { ...FORGOTTEN, removed: put.puts.map(({ id }) => id) }, { expectedSeq: 1, now: NOW });
  const redact = log.redact.bind(log);
  log.redact = async (owner, change) => {
    await log.append(ALICE, entryOf("opera"), { expectedSeq: 2, now: NOW });
    return redact(owner, change);
  };
  const projection = new Projection({ log, ledger, store: {} as MemoryStore, logger: silentLogger });
  const logs = new OwnerLogs({ log, ledger, projection, clock: systemClock });
  expect([...(await logs.known(ALICE)).records.values()]).toEqual([]);
  const texts: string[][] = [];
  for await (const { puts } of log.read(ALICE)) texts.push(puts.map(({ text }) => text));
  expect(texts).toEqual([[], [], ["opera"]]);
});

test("who asks at the same time looks once; who asks later sees what was written since", async () => {
  const ledger = new InMemoryOwnerLedger();
  const log = new InMemoryMemoryLog(ledger);
  await log.append(ALICE, entryOf("jazz"), { expectedSeq: 0, now: NOW });
  let looks = 0;
  const lastSeq = log.lastSeq.bind(log);
  log.lastSeq = (owner) => {
    looks += 1;
    return lastSeq(owner);
  };
  const projection = new Projection({ log, ledger, store: {} as MemoryStore, logger: silentLogger });
  const logs = new OwnerLogs({ log, ledger, projection, clock: systemClock });
  await logs.known(ALICE);
  looks = 0;
  await Promise.all([logs.known(ALICE), logs.atHand(ALICE), logs.known(ALICE)]);
  expect(looks).toBe(1);
  const first = logs.known(ALICE);
  await log.append(ALICE, entryOf("opera"), { expectedSeq: 1, now: NOW });
  await first;
  expect((await logs.known(ALICE)).records.size).toBe(2);
});
