import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { openDatabase } from "../../src/platform/sqlite.js";
import { ownerPartition } from "../../src/state/partition.js";
import { aLife, CANARY, filesWith, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");
const quiet = { signal: new AbortController().signal, onProgress: () => {} };

let base = "";
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "maitred-erased-"));
  await writeFile(join(base, "master.key"), MASTER_KEY);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const at = (name: string) => join(base, name);
const configOf = (name: string, env: Record<string, string> = {}) =>
  parseConfig(byWords({ MEMORY_STORAGE_DIR: at(name), RECALL_DEADLINE_MS: "5000", ENCRYPTION_KEY_FILE: at("master.key"), ...env }));

async function start(name: string): Promise<Composed> {
  const application = await compose(configOf(name));
  onTestFinished(() => application.close({ drainMs: 0 }).catch(() => undefined));
  return application;
}

/** Alice's whole life and a word of Bob's, in `here`, stopped. */
async function lived(): Promise<void> {
  const application = await start("here");
  await aLife(application, alice);
  await tell(application, bob, "I prefer opera.");
  await application.close({ drainMs: 5_000 });
}

async function holds(
  application: Composed,
  owner: Owner,
): Promise<{ readonly sessions: number; readonly found: number; readonly memories: number }> {
  return {
    sessions: (await application.sessions.list(owner, {})).data.length,
    found: (await application.history.search(owner, { query: `${CANARY} opera dog` })).length,
    memories: (await application.memories.list(owner, {})).data.length,
  };
}
const NOTHING = { sessions: 0, found: 0, memories: 0 };

test("[erased-by-key] a backup from before an erasure, restored with the keys of today, gives nothing of who was erased", async () => {
  await lived();
  const report = await backupsOf(configOf("here")).backUp(at("backup"), quiet);
  expect(report).toMatchObject({ holds: { users: 2, sessions: 4 }, left_behind: { damaged_journals: 0, damaged_records: 0 } });
  expect(await filesWith(at("backup"), CANARY)).toEqual([]);
  // Not a key is in it.
  expect(await filesWith(at("backup"), '"wrapped"')).toEqual([]);
  expect((await filesWith(at("here"), '"wrapped"')).length).toBeGreaterThan(0);

  const application = await start("here");
  const receipt = await application.privacy.erase(alice, { by: "user" });
  expect(receipt).toMatchObject({ verified: true, destroyed_keys: [expect.stringMatching(/^[0-9a-f]{12}$/), expect.any(String)] });
  expect(receipt.erased.sessions).toBe(3);
  expect(receipt.erased.messages).toBeGreaterThan(3);
  for (const id of receipt.destroyed_keys ?? [])
    for (const needle of [`~e1:${id}:`, `"id":"${id}","by"`]) expect(await filesWith(at("here"), needle)).toEqual([]);
  await application.close({ drainMs: 5_000 });

  await mkdir(at("there"));
  await cp(at("here/keyring.db"), at("there/keyring.db"));
  expect(await backupsOf(configOf("there")).restore(at("backup"), quiet)).toMatchObject({ differences: [] });
  const restored = await start("there");
  await restored.parts.rebuildIndex({});
  expect(await holds(restored, alice)).toEqual(NOTHING);
  expect((await restored.sessions.list(bob, {})).data).toHaveLength(1);
  let exported = "";
  for await (const piece of restored.privacy.export(alice, { by: "user" })) exported += piece;
  expect(exported).not.toContain(CANARY);
  // Who comes back begins anew, under another key.
  await tell(restored, alice, "I prefer tango.");
  expect(await holds(restored, alice)).toMatchObject({ sessions: 1 });
});

test("[erased-by-key] a keyring from before an erasure, brought back beside what is newer, has lost that key too", async () => {
  await lived();
  await cp(at("here"), at("older"), { recursive: true });
  const application = await start("here");
  await application.privacy.erase(alice, { by: "user" });
  await application.close({ drainMs: 5_000 });
  for (const file of ["keyring.db", "keyring.db-wal", "keyring.db-shm"]) {
    await rm(at(`here/${file}`), { force: true });
    await cp(at(`older/${file}`), at(`here/${file}`)).catch(() => undefined);
  }
  // With what it sealed brought back by hand as well.
  for (const name of await readdir(at("older"))) if (/\.jsonl/.test(name)) await cp(at(`older/${name}`), at(`here/${name}`));
  const again = await start("here");
  expect(await holds(again, alice)).toEqual(NOTHING);
  expect(await holds(again, bob)).toMatchObject({ sessions: 1, memories: 1 });
});

test("[erased-by-key] a backup from after an erasure, restored beside the keyring of before, gives nothing of who was erased", async () => {
  const before = await start("here");
  await tell(before, alice, "I prefer jazz.");
  await tell(before, bob, "I prefer opera.");
  await before.close({ drainMs: 5_000 });
  await cp(at("here"), at("older"), { recursive: true });
  const application = await start("here");
  const { destroyed_keys: destroyed = [] } = await application.privacy.erase(alice, { by: "user" });
  await application.close({ drainMs: 5_000 });
  await backupsOf(configOf("here")).backUp(at("backup"), quiet);

  await mkdir(at("there"));
  await cp(at("older/keyring.db"), at("there/keyring.db"));
  const isHeld = async (id: string) => (await filesWith(at("there"), `"id":"${id}","by"`)).length > 0;
  // The first of them is as old as the keyring.
  expect(await isHeld(destroyed[0] ?? "")).toBe(true);
  expect(await backupsOf(configOf("there")).restore(at("backup"), quiet)).toMatchObject({ differences: [] });
  // With what it sealed brought back by hand as well.
  for (const name of await readdir(at("older"))) if (/\.jsonl/.test(name)) await cp(at(`older/${name}`), at(`there/${name}`));
  const restored = await start("there");
  await restored.parts.rebuildIndex({});
  expect(await holds(restored, alice)).toEqual(NOTHING);
  expect(await holds(restored, bob)).toMatchObject({ sessions: 1, memories: 1 });
  // Who comes back has another key, and what the older keyring had for them is gone.
  await tell(restored, alice, "I prefer tango.");
  expect(await holds(restored, alice)).toMatchObject({ sessions: 1, memories: 1 });
  await restored.close({ drainMs: 5_000 });
  for (const id of destroyed) expect(await isHeld(id)).toBe(false);
});

test("[erased-by-key] an erasure that is killed behind the loss of the key leaves nothing either, and says which it was", async () => {
  await lived();
  const application = await start("here");
  application.parts.store.journal.erase = () => Promise.reject(new Error("killed"));
  application.parts.store.images.erase = () => Promise.reject(new Error("killed"));
  await expect(application.privacy.erase(alice, { by: "user" })).rejects.toThrow("killed");
  await application.close({ drainMs: 0 });
  const again = await start("here");
  const [receipt] = await again.parts.ledger.receipts(alice);
  expect(receipt?.verified).toBe(true);
  // That, and what was begun behind it.
  expect(receipt?.destroyed_keys?.length).toBeGreaterThan(0);
  for (const id of receipt?.destroyed_keys ?? []) expect(await filesWith(at("here"), `~e1:${id}:`)).toEqual([]);
  expect(await holds(again, alice)).toEqual(NOTHING);
  expect(await holds(again, bob)).toMatchObject({ sessions: 1, memories: 1 });
});

test("[sealed-at-rest] a backup without its keyring, or without the master key, is not restored, and the error names the key", async () => {
  await lived();
  await backupsOf(configOf("here")).backUp(at("backup"), quiet);
  await expect(backupsOf(configOf("there")).restore(at("backup"), quiet)).rejects.toThrow(/encrypted under data key [0-9a-f]{12}, which/);
  await expect(backupsOf(configOf("clear", { ENCRYPTION_KEY_FILE: "" })).restore(at("backup"), quiet)).rejects.toThrow(
    /not set, .* and .* is encrypted/,
  );
  expect(await readFile(at("backup/backup.json"), "utf8")).not.toContain(CANARY);
});

test("[erased-by-key] a value that was tampered with holds up nobody's erasure, and goes with it", async () => {
  await lived();
  const db = openDatabase(at("here/state.db"));
  const { id } = db.prepare<[string], { id: number }>("SELECT id FROM partitions WHERE partition = ?").get(ownerPartition(alice)) ?? {};
  expect(
    db.prepare("UPDATE entries SET value = 'in clear' WHERE partition = ? AND key LIKE 'memory-log/%'").run(id).changes,
  ).toBeGreaterThan(0);
  db.prepare("INSERT INTO entries VALUES (?, 'image/x', 1, '~e1:000000000000:AAAA')").run(id);
  db.close();
  const application = await start("here");
  await expect(application.memories.list(alice, {})).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
  expect(await application.privacy.erase(alice, { by: "user" })).toMatchObject({ verified: true });
  await application.close({ drainMs: 5_000 });
  const after = openDatabase(at("here/state.db"));
  const keys = after.prepare<[number | undefined], { key: string }>("SELECT key FROM entries WHERE partition = ?").all(id);
  after.close();
  expect(keys.filter(({ key }) => !/^(ledger|outbox)/.test(key))).toEqual([]);
});
