import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/platform/ids.js";
import type { FileSessionStore } from "../../../src/state/jsonl/file-session-store.js";
import { openFileStore } from "../../support/file-store.js";
import { ALICE, BOB, JournalRecords } from "../../support/journal-records.js";

let dir: string;
let records: JournalRecords;
let made: Awaited<ReturnType<typeof openFileStore>>;
const opened: FileSessionStore[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-index-"));
  records = new JournalRecords();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await rm(dir, { recursive: true });
});

async function open(): Promise<FileSessionStore> {
  made = await openFileStore({ dir });
  opened.push(made.store);
  return made.store;
}

/** Two sessions with everything that an index knows. */
async function furnished(store: FileSessionStore): Promise<{ mine: string; other: string }> {
  const [mine, other] = [newId(), newId()];
  const first = [records.session(ALICE, { title: "Mine", external_id: "ext" })];
  await store.index.apply(ALICE, mine, await store.journal.create(ALICE, mine, first));
  await store.index.apply(BOB, other, await store.journal.create(BOB, other, [records.session(BOB)]));
  const written = [
    await store.journal.append(ALICE, mine, [
      records.user(1, "one", { idempotency: { key: "key-1", request_hash: "h" } }),
      records.assistant(1),
      records.summary(1, "a canary-summary of what was said"),
    ]),
    await store.journal.append(ALICE, mine, [...records.round(2), ...records.round(3), records.done(1), records.done(3, "failed", 8)]),
    await store.journal.append(ALICE, mine, [records.rewind(4, 7), records.user(4), records.patch({ tags: ["canary-tag"], by: "user" })]),
  ];
  for (const each of written) await store.index.apply(ALICE, mine, each);
  await store.index.apply(BOB, other, await store.journal.append(BOB, other, records.round(1)));
  return { mine, other };
}

async function snapshot(store: FileSessionStore, { mine, other }: { mine: string; other: string }) {
  return {
    mine: await store.index.get(ALICE, mine),
    other: await store.index.get(BOB, other),
    external: (await store.index.findByExternalId(ALICE, "ext"))?.id,
    list: await store.index.list(ALICE, { limit: 1 }),
    pending: await store.turns.of(ALICE, mine),
    counts: await store.turns.counts(),
    key: await store.index.findIdempotent(ALICE, "key-1", new Date("2026-03-01T12:00:00Z")),
    seq: await store.index.indexedSeq(ALICE, mine),
  };
}

describe("the index is rebuilt from the journals alone", () => {
  test("when it was deleted", async () => {
    const store = await open();
    const ids = await furnished(store);
    const before = await snapshot(store, ids);
    expect(before.pending).toMatchObject([{ turn: 2 }]);
    await store.close();
    for (const name of await readdir(dir)) if (name.startsWith("state.db")) await rm(join(dir, name));
    const after = await open();
    const looked: number[] = [];
    expect(await after.catchUp({ onProgress: (count) => looked.push(count) })).toMatchObject({ sessions: 2 });
    expect(looked).toEqual([1, 2]);
    expect(await snapshot(after, ids)).toEqual(before);
  });

  test.each(["no database", "a damaged page"])(
    "when it was damaged, and was put away: it holds more than follows from journals (%s)",
    async (how) => {
      const store = await open();
      const ids = await furnished(store);
      const before = await snapshot(store, ids);
      await store.close();
      const path = join(dir, "state.db");
      const bytes = await readFile(path);
      await writeFile(
        path,
        how === "no database" ? "not a database at all, but long enough to be looked at".repeat(100) : bytes.fill(0xa5, 4096, bytes.length),
      );
      await expect(open()).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
      await rename(path, join(dir, "put-away.damaged"));
      const after = await open();
      await after.catchUp();
      expect(await snapshot(after, ids)).toEqual(before);
    },
  );

  test("when the process died between journal and index", async () => {
    const store = await open();
    const ids = await furnished(store);
    await store.journal.append(ALICE, ids.mine, records.round(5));
    const after = await open();
    expect(await after.catchUp()).toEqual({ sessions: 1, records: 2 });
    expect(await after.turns.of(ALICE, ids.mine)).toMatchObject([{ turn: 2 }, { turn: 5 }]);
    expect(await after.catchUp()).toEqual({ sessions: 0, records: 0 });
  });

  test("when it is made anew, without what has no journal any more", async () => {
    const store = await open();
    const ids = await furnished(store);
    const before = await snapshot(store, ids);
    const stray = newId();
    await store.index.apply(ALICE, stray, await store.journal.create(ALICE, stray, [records.session(ALICE), ...records.round(1)]));
    await store.journal.remove(ALICE, stray);
    expect(await snapshot(store, ids)).not.toEqual(before);
    expect(await store.rebuild()).toMatchObject({ sessions: 2 });
    expect(await snapshot(store, ids)).toEqual(before);
  });

  test("cursors of before the rebuild are good after it", async () => {
    const store = await open();
    await furnished(store);
    for (let each = 0; each < 3; each += 1) {
      const id = newId();
      await store.index.apply(ALICE, id, await store.journal.create(ALICE, id, [records.session(ALICE)]));
    }
    const { nextCursor } = await store.index.list(ALICE, { limit: 2 });
    const query = { limit: 2, cursor: nextCursor ?? "" };
    const before = await store.index.list(ALICE, query);
    await store.rebuild();
    expect(await store.index.list(ALICE, query)).toEqual(before);
  });
});

test("erasing an owner leaves none of their bytes in any file: index, write-ahead log, free pages, journals", async () => {
  const store = await open();
  const { engine, events, ledger } = made;
  const canary = "CANARY-2b7e";
  const at = new Date().toISOString();
  const ids: string[] = [];
  for (let each = 0; each < 12; each += 1) {
    const id = newId();
    ids.push(id);
    await store.index.apply(
      ALICE,
      id,
      await store.journal.create(ALICE, id, [records.session(ALICE, { title: `${canary} title ${each}` })]),
    );
    await store.index.apply(
      ALICE,
      id,
      await store.journal.append(ALICE, id, [
        records.user(1, `${canary} said`, { idempotency: { key: `${canary}-${each}`, request_hash: canary } }),
        records.assistant(1),
        // Long enough for overflow pages.
        records.summary(1, `${canary} summary `.repeat(500)),
        records.patch({ tags: [canary], topic: canary, by: "user" }),
      ]),
    );
    if (each % 3 === 0) await store.journal.compress(ALICE, id);
  }
  expect(await filesWith(canary)).not.toEqual([]);
  await store.index.remove(ALICE, ids[0] ?? "");
  const { receiptId } = await ledger.beginErasure(ALICE, at);
  await store.journal.erase(ALICE);
  await store.index.erase(ALICE);
  await events.erase(ALICE);
  await ledger.completeErasure(ALICE, { receipt_id: receiptId, completed_at: at, erased: {}, verified: true });
  await engine.scrub?.();
  expect(await filesWith(canary)).toEqual([]);
  expect(await filesWith("alice")).toEqual([]);
  expect([await store.journal.residue(ALICE), await store.index.residue(ALICE)]).toEqual([0, 0]);
});

async function filesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if (bytes.includes(text, 0, "utf8") || bytes.includes(text, 0, "utf16le")) found.push(entry.name);
  }
  return found;
}

test("what follows a journal waits for no sync of its own: the journal's lines are on the disk", async () => {
  const store = await open();
  const commit = vi.spyOn(made.engine, "commit");
  await furnished(store);
  expect(commit.mock.calls.length).toBeGreaterThan(5);
  expect(commit.mock.calls.filter(([, { durability }]) => durability !== "relaxed")).toEqual([]);
});
