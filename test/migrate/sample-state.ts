import { createHash } from "node:crypto";
import type { Owner } from "../../src/domain/owner.js";
import { newId } from "../../src/platform/ids.js";
import { committed } from "../../src/state/durable-commit.js";
import type { Commit, StateEngine } from "../../src/state/engine.js";
import { named, numberKey, ownerPartition, systemPartition } from "../../src/state/partition.js";
import { jobKey, recordsKey, sessionKey } from "../../src/state/sessions/keys.js";
import { NO_INDEX, NO_JOURNAL } from "../../src/state/sessions/session-row.js";

/** Rows that are more than a page in one partition. */
/** Entries that every engine takes in one commit, and that go into MANY. */
const A_COMMIT = 50;
const MANY = 1_300;
const DUE_MS = Date.parse("2027-01-01T00:00:00.000Z");
const LARGE = 700 * 1024;

export function ownerNumber(number: number): Owner {
  return `default:user-${number}` as Owner;
}

export const ERASED = "default:erased" as Owner;
export const [RICH, POOR] = [ownerNumber(0), ownerNumber(1)];
export const SESSION = newId();

const put = (engine: StateEngine, partition: string, entries: Readonly<Record<string, unknown>>, more: Omit<Commit, "id" | "puts"> = {}) =>
  committed(engine, partition, { puts: Object.entries(entries).map(([key, value]) => ({ key, value: JSON.stringify(value) })), ...more });

/** Something of everything that a store can hold: of many owners, of an erased one and of the installation. */
export async function fill(engine: StateEngine, { owners }: { readonly owners: number }): Promise<void> {
  for (let number = 0; number < owners; number += 1) {
    const owner = ownerNumber(number);
    const entries = { [named(owner).key]: owner, "memory-log/000000000001": { text: `likes ${number}` }, "ledger/user": { owner } };
    await put(engine, ownerPartition(owner), entries, number % 3 === 0 ? { dueByMs: DUE_MS + number } : {});
  }
  const rich = ownerPartition(RICH);
  const row = { v: 2, ...NO_JOURNAL, ...NO_INDEX, incarnation: "i", generation: "000000-a", fence: 41, messages: 2, lastSeq: 3 };
  const job = { v: 1, state: "pending", attempts: 2, dueAtMs: DUE_MS, claim: "c", claimedUntilMs: DUE_MS };
  await put(engine, rich, {
    [sessionKey(SESSION)]: row,
    [recordsKey(SESSION, "000000-a", 1)]: ["hello \u0000 👩‍👧"],
    [jobKey(SESSION, 1)]: job,
    "record/booking/b": { seats: 2 },
    "lock/l": { fence: 41, holder: "h", untilMs: 0 },
  });
  for (const part of [0, 1, 2]) await put(engine, rich, { [`image-part/${SESSION}/i/${part}`]: "x".repeat(LARGE) });
  for (let from = 0; from < MANY; from += A_COMMIT)
    await put(
      engine,
      rich,
      Object.fromEntries(Array.from({ length: A_COMMIT }, (_, at) => [`memory-log/${numberKey(from + at)}`, { at: from + at }])),
    );

  const erased = ownerPartition(ERASED);
  await put(engine, erased, { [named(ERASED).key]: ERASED });
  for (const _ of ["once", "and again"]) await engine.erase(erased);
  await put(engine, erased, { "ledger/receipt/r": { verified: true } });

  await put(engine, systemPartition("installation"), { installation: "the one" });
  await put(engine, systemPartition("tokens"), { [`count/2026-03-01/${createHash("sha256").update("t").digest("hex")}`]: 12 });
  await put(engine, systemPartition("locks"), { "lock/p": { fence: 1, holder: "h", untilMs: 0 } });
  await put(engine, systemPartition("limits", "60-0a"), { "limit/1/k": 3 });
}

export interface PartitionContents {
  readonly epoch: number;
  readonly dueAtMs: number | null;
  readonly entries: Readonly<Record<string, string>>;
}

/** All that an engine holds, by partition; without partitions that hold nothing and never did. */
export async function contentsOf(engine: StateEngine): Promise<ReadonlyMap<string, PartitionContents>> {
  const found = new Map<string, PartitionContents>();
  for (const { partition } of await engine.partitions({ limit: 10_000 })) {
    const { epoch, dueAtMs, ranges } = await engine.read(partition, { ranges: [{ from: "", to: "\u{10FFFF}" }] });
    const entries = Object.fromEntries((ranges[0] ?? []).map(({ key, value }) => [key, value]));
    if (epoch > 0 || Object.keys(entries).length > 0) found.set(partition, { epoch, dueAtMs, entries });
  }
  return found;
}

/** What of it arrives in another store. */
export function arriving(contents: ReadonlyMap<string, PartitionContents>): ReadonlyMap<string, PartitionContents> {
  const arrive = ([key, value]: readonly [string, string]): readonly (readonly [string, string])[] => {
    if (key.startsWith("lock/")) return [];
    if (!key.startsWith("session/") && !key.startsWith("job/")) return [[key, value]];
    const { claim: _, claimedUntilMs: _until, ...fields } = JSON.parse(value) as Record<string, unknown>;
    return [[key, JSON.stringify("fence" in fields ? { ...fields, fence: 0 } : fields)]];
  };
  return new Map(
    [...contents]
      .filter(([partition]) => partition !== systemPartition("locks") && !partition.startsWith("s:limits:"))
      .map(([partition, each]) => [partition, { ...each, entries: Object.fromEntries(Object.entries(each.entries).flatMap(arrive)) }]),
  );
}
