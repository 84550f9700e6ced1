import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { migrateState } from "../../src/compose/migration.js";
import { ownerOf } from "../../src/domain/owner.js";
import { newId } from "../../src/platform/ids.js";
import { silentLogger } from "../../src/platform/logger.js";
import { openDatabase } from "../../src/platform/sqlite.js";
import { aLife, CANARY, filesWith, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");
const quiet = { signal: new AbortController().signal, onProgress: () => {} };

let base = "";
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "maitred-in-place-"));
  await writeFile(join(base, "key"), MASTER_KEY);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const at = (name: string) => join(base, name);
type Env = Readonly<Record<string, string>>;
const configOf = (name: string, env: Env = {}) =>
  parseConfig(byWords({ MEMORY_STORAGE_DIR: at(name), RECALL_DEADLINE_MS: "5000", ENCRYPTION_KEY_FILE: at("key"), ...env }));
const CLEAR = { ENCRYPTION_KEY_FILE: "" };

async function start(name: string, env: Env = {}): Promise<Composed> {
  const application = await compose(configOf(name, env));
  onTestFinished(() => application.close({ drainMs: 0 }).catch(() => undefined));
  return application;
}

async function lived(env: Env): Promise<void> {
  const application = await start("here", env);
  await aLife(application, alice);
  await tell(application, bob, `I prefer ${CANARY} and opera.`);
  await application.close({ drainMs: 5_000 });
}

/** What both have, as they would see it. */
async function seen(env: Env = {}, name = "here"): Promise<object> {
  const application = await start(name, env);
  const all = [];
  for (const owner of [alice, bob]) {
    const { data: sessions } = await application.sessions.list(owner, { status: "all" } as never);
    const messages = [];
    for (const { id } of sessions) messages.push((await application.sessions.messages(owner, id, { limit: 200 })).data);
    const memories = (await application.memories.list(owner, {})).data;
    const found = await application.history.search(owner, { query: `${CANARY} dog opera` });
    all.push({ sessions, messages, memories, found: found.map(({ content }) => content).sort() });
  }
  await application.close({ drainMs: 5_000 });
  return all;
}

test("[sealed-at-rest] what was kept in clear is encrypted in place, and nothing of it is lost or left", async () => {
  await lived(CLEAR);
  const before = await seen(CLEAR);
  expect((await filesWith(at("here"), CANARY)).length).toBeGreaterThan(2);
  await expect(start("here")).rejects.toThrow(/is not encrypted\./);
  const report = await encryptionOf(configOf("here")).encrypt(quiet);
  expect(report).toEqual({ values: expect.any(Number), journals: 4, points: expect.any(Number) });
  expect(Math.min(report.values, report.points)).toBeGreaterThan(10);
  expect(await filesWith(at("here"), CANARY)).toEqual([]);
  expect(await encryptionOf(configOf("here")).encrypt(quiet)).toMatchObject({ values: 0, points: 0 });
  expect(await seen()).toEqual(before);
  expect(await filesWith(at("here"), CANARY)).toEqual([]);
});

test("[sealed-at-rest] broken off anywhere it is refused by a start, and goes on", async () => {
  await lived(CLEAR);
  const before = await seen(CLEAR);
  for (let partitions = 1; partitions <= 40; partitions += 3) {
    const stop = new AbortController();
    const onProgress = (done: number) => {
      if (done >= partitions) stop.abort(new Error("killed"));
    };
    const run = encryptionOf(configOf("here")).encrypt({ signal: stop.signal, onProgress });
    const wasKilled = await run.then(
      () => false,
      () => true,
    );
    if (!wasKilled) break;
    await expect(start("here")).rejects.toThrow("is not encrypted as a whole");
    await expect(start("here", CLEAR)).rejects.toThrow("not set");
  }
  expect(await seen()).toEqual(before);
  expect(await filesWith(at("here"), CANARY)).toEqual([]);
});

test("[sealed-at-rest] a journal whose owner can't be read ends it, by name, before any key goes", async () => {
  const application = await start("here", CLEAR);
  const session = await tell(application, bob, `I prefer ${CANARY}.`);
  await application.close({ drainMs: 5_000 });
  const path = at(`here/${session}.jsonl`);
  const whole = await readFile(path, "utf8");
  await writeFile(path, whole.slice(9));
  const refused = { code: "STORAGE_DAMAGED", message: expect.stringContaining(session) };
  // In a file without a byte there is nothing to be sealed.
  await writeFile(at(`here/${newId()}.jsonl`), "");
  await expect(encryptionOf(configOf("here")).encrypt(quiet)).rejects.toMatchObject(refused);
  await expect(start("here")).rejects.toThrow("is not encrypted as a whole");
  await writeFile(path, whole);
  expect(await encryptionOf(configOf("here")).encrypt(quiet)).toMatchObject({ journals: 1 });
  expect(await filesWith(at("here"), CANARY)).toEqual([]);
  const sealed = await readFile(path, "utf8");
  await writeFile(path, sealed.slice(9));
  await expect(encryptionOf(configOf("here")).renew(bob, quiet)).rejects.toMatchObject(refused);
  expect(await encryptionOf(configOf("here")).renew(alice, quiet)).toMatchObject({ journals: 0 });
  await expect(encryptionOf(configOf("here")).decrypt(quiet)).rejects.toMatchObject(refused);
  await writeFile(path, sealed);
  expect(await encryptionOf(configOf("here")).decrypt(quiet)).toMatchObject({ journals: 1 });
  expect(await readFile(path, "utf8")).toContain(CANARY);
});

test("decrypted in place all is as it was, and no key is left; vectors are made anew", async () => {
  await lived({});
  const before = await seen();
  await encryptionOf(configOf("here")).decrypt(quiet);
  expect((await readdir(at("here"))).filter((name) => name.startsWith("keyring"))).toEqual([]);
  expect(await filesWith(at("here"), "~e1:")).toEqual([]);
  const application = await start("here", CLEAR);
  await application.parts.reindex({ signal: quiet.signal } as never);
  await application.close({ drainMs: 5_000 });
  expect(await seen(CLEAR)).toEqual(before);
});

const ROWS = `SELECT p.partition, e.key, e.value FROM entries e JOIN partitions p ON p.id = e.partition
  WHERE p.partition LIKE 'o:%' ORDER BY p.partition, e.key`;

/** All values as they lie there. */
function storedValues(): unknown[] {
  const db = openDatabase(at("here/state.db"), { readonly: true });
  const rows = db.prepare(ROWS).all();
  db.close();
  return rows;
}

test("[sealed-at-rest] the master key is rotated without a value being written, and the one before opens nothing", async () => {
  await lived({});
  const before = storedValues();
  await writeFile(at("key"), `# of this year\n${"2d".repeat(32)}\n${MASTER_KEY}\n`);
  expect(await encryptionOf(configOf("here")).rotate(quiet)).toBe(3);
  expect(await encryptionOf(configOf("here")).rotate(quiet)).toBe(0);
  expect(storedValues()).toEqual(before);
  await writeFile(at("key"), MASTER_KEY);
  await expect(start("here")).rejects.toThrow(/encrypted under master key/);
  await writeFile(at("key"), "2d".repeat(32));
  expect(JSON.stringify(await seen())).toContain(CANARY);
});

test("[erased-by-key] an owner's data key is renewed: nothing lies under the one before, which no older keyring brings back", async () => {
  await lived({});
  const before = await seen();
  const ids = () => new Set(JSON.stringify(storedValues()).match(/~e1:[0-9a-f]{12}/g));
  const old = ids();
  const commands = () => encryptionOf(configOf("here"));
  expect(await commands().save(at("saved"))).toBe(3);
  expect((await stat(at("saved"))).mode & 0o777).toBe(0o600);
  const report = await commands().renew(alice, quiet);
  expect(report.journals).toBe(3);
  expect(Math.min(report.values, report.points)).toBeGreaterThan(5);
  const [gone = ""] = [...old].filter((id) => !ids().has(id));
  expect(await filesWith(at("here"), gone)).toEqual([]);
  expect(await seen()).toEqual(before);
  await commands().load(at("saved"));
  expect(await filesWith(at("here"), `"id":"${gone.slice(4)}","by"`)).toEqual([]);
  expect(await seen()).toEqual(before);
});

test("[backup-whole] a keyring that was saved, taken into an empty directory, opens a backup there", async () => {
  await lived({});
  const before = await seen();
  await backupsOf(configOf("here")).backUp(at("backup"), quiet);
  await encryptionOf(configOf("here")).save(at("saved"));
  expect(await filesWith(base, MASTER_KEY)).toEqual([at("key")]);
  await mkdir(at("there"));
  expect(await encryptionOf(configOf("there")).load(at("saved"))).toBeGreaterThan(3);
  expect(await backupsOf(configOf("there")).restore(at("backup"), quiet)).toMatchObject({ differences: [] });
  const application = await start("there");
  await application.parts.reindex({ signal: quiet.signal } as never);
  await application.close({ drainMs: 5_000 });
  expect(await seen({}, "there")).toEqual(before);
});

needing("postgres")("over PostgreSQL", () => {
  test("moved there it is encrypted under the same keys, and vectors that stay are read", async () => {
    const server = await openPostgresServer();
    onTestFinished(() => server.close());
    const env = { DATABASE_URL: server.url };
    await lived({});
    const before = await seen();
    const options = { ...quiet, logger: silentLogger };
    expect(await migrateState(configOf("here", env), { from: "file", to: "postgres" }, options)).toMatchObject({ differences: [] });
    expect(await seen(env)).toEqual(before);
  });

  test("[sealed-at-rest] encrypted in place, rotated while a server runs, and decrypted again", async () => {
    const server = await openPostgresServer();
    onTestFinished(() => server.close());
    const env = { DATABASE_URL: server.url };
    await lived({ ...env, ...CLEAR });
    const before = await seen({ ...env, ...CLEAR });
    const running = await start("here", { ...env, ...CLEAR });
    await expect(encryptionOf(configOf("here", env)).encrypt(quiet)).rejects.toMatchObject({ code: "STORAGE_IN_USE" });
    await running.close({ drainMs: 5_000 });
    expect((await encryptionOf(configOf("here", env)).encrypt(quiet)).values).toBeGreaterThan(10);
    expect(await seen(env)).toEqual(before);
    await writeFile(at("key"), `${"2d".repeat(32)}\n${MASTER_KEY}\n`);
    const other = await start("here", env);
    expect(await encryptionOf(configOf("here", env)).rotate(quiet)).toBe(3);
    await tell(other, bob, "I prefer tango.");
    await other.close({ drainMs: 5_000 });
    await encryptionOf(configOf("here", env)).decrypt(quiet);
    const clear = await start("here", { ...env, ...CLEAR });
    expect(JSON.stringify((await clear.memories.list(bob, {})).data)).toContain("tango");
  });
});
