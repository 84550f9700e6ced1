import { expect, test } from "vitest";
import { OwnerLogs } from "../../src/memories/owner-logs.js";
import { Projection } from "../../src/memories/projection.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MemoryStore } from "../../src/ports/memory-store.js";
import { ALICE } from "../../src/testing/journal-records.js";
import { entryOf, NOW } from "../../src/testing/memory-log-contract.js";
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
