import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { openDatabase } from "../../src/platform/sqlite.js";
import type { KeyVault } from "../../src/ports/key-vault.js";
import { CANARY, filesWith, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { everythingIn, openPlace, startIn } from "./everything.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("acme", "bob");

let base = "";
let dir = "";
beforeEach(async () => {
  ({ base, dir } = await openPlace());
});
afterEach(() => rm(base, { recursive: true, force: true }));

const start = (env: Record<string, string> = {}) => startIn(base, env);
const everything = (owner: Owner, env: Record<string, string> = {}) => everythingIn(base, owner, env);

/** What lies in the directory: rows of the databases, and journals. */
async function kept(): Promise<unknown> {
  const rows = ["state.db", "keyring.db"].map((name) => {
    const db = openDatabase(join(dir, name), { readonly: true });
    const entries = db.prepare("SELECT * FROM entries ORDER BY partition, key").all();
    db.close();
    return entries;
  });
  const names = (await readdir(dir)).filter((name) => name.endsWith(".jsonl"));
  return [rows, await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")))];
}

test("[sealed-at-rest] after everything that a user can do no file has a byte of it, and it is all there at the next start", async () => {
  const session = await everything(alice);
  await everything(bob);
  expect(await filesWith(dir, CANARY)).toEqual([]);
  expect(await filesWith(dir, Buffer.from(CANARY).toString("base64").slice(0, 16))).toEqual([]);
  const again = await start();
  const { data } = await again.sessions.messages(alice, session, { limit: 200 });
  expect(data).toHaveLength(30);
  expect(data[0]?.content).toBe(`What is ${CANARY}?`);
  expect((await again.history.search(alice, { query: `${CANARY} dog` }))[0]?.content).toContain(CANARY);
  expect(JSON.stringify((await again.memories.list(bob, {})).data)).toContain(CANARY);
  // While it runs and holds its files open.
  expect(await filesWith(dir, CANARY)).toEqual([]);
});

test("without its key, or with another, the start ends with a sentence that names it, and nothing is changed", async () => {
  const application = await start();
  await tell(application, alice, `I prefer ${CANARY}.`);
  await application.close({ drainMs: 5_000 });
  const before = await kept();
  await expect(start({ ENCRYPTION_KEY_FILE: "" })).rejects.toThrow(
    /ENCRYPTION_KEY_FILE: not set, nor ENCRYPTION_KMS_KEY, and SQLite .* is encrypted \(data key [0-9a-f]{12}\)/,
  );
  await writeFile(join(base, "other.key"), "ab".repeat(32));
  await expect(start({ ENCRYPTION_KEY_FILE: join(base, "other.key") })).rejects.toThrow(
    /encrypted under master key [0-9a-f]{12}; .* holds/,
  );
  await writeFile(join(base, "other.key"), "no key");
  await expect(start({ ENCRYPTION_KEY_FILE: join(base, "other.key") })).rejects.toThrow(/not 32 bytes/);
  expect(await kept()).toEqual(before);
  // State and keyring of two installations.
  await rm(join(dir, "keyring.db"));
  await expect(start()).rejects.toThrow(/is encrypted under data key [0-9a-f]{12}, which SQLite .*keyring\.db.* does not hold/);
});

test("[sealed-at-rest] a vault of one's own wraps the keys, once for each owner, and none lies in clear", async () => {
  const wrapped = new Map<string, { readonly key: Uint8Array; readonly context: string }>();
  let unwraps = 0;
  const keyVault: KeyVault = {
    keyId: "kms-1",
    async wrap(key, context) {
      const ticket = `ticket ${wrapped.size}`;
      wrapped.set(ticket, { key: Buffer.from(key), context });
      return ticket;
    },
    async unwrap(ticket, { keyId, context }) {
      unwraps += 1;
      const kept = wrapped.get(ticket);
      if (kept === undefined || kept.context !== context || keyId !== "kms-1") throw new Error("another key's");
      return kept.key;
    },
  };
  const open = () => compose(parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "5000" })), { keyVault });
  const application = await open();
  await tell(application, alice, `I prefer ${CANARY}.`);
  await application.close({ drainMs: 5_000 });
  unwraps = 0;
  const again = await open();
  onTestFinished(() => again.close({ drainMs: 0 }));
  expect(JSON.stringify((await again.memories.list(alice, {})).data)).toContain(CANARY);
  await tell(again, alice, "And opera.");
  // Two of the installation's, and two of hers.
  expect(unwraps).toBe(4);
  expect(await filesWith(dir, CANARY)).toEqual([]);
  for (const { key } of wrapped.values()) expect(await filesWith(dir, Buffer.from(key).toString("base64"))).toEqual([]);
});

needing("postgres")("over PostgreSQL", () => {
  test("[sealed-at-rest] no table has a byte of it, and two processes share the keys", async () => {
    const server = await openPostgresServer();
    onTestFinished(() => server.close());
    const env = { DATABASE_URL: server.url };
    await everything(alice, env);
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    const tables = await client.query(
      "SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables WHERE table_schema = 'maitred'",
    );
    expect(tables.rows.length).toBeGreaterThan(1);
    for (const { name } of tables.rows as { name: string }[]) {
      const { rows } = await client.query(`SELECT t::text AS row FROM ${name} t`);
      const needles = [CANARY, Buffer.from(CANARY).toString("hex"), Buffer.from(CANARY).toString("base64").slice(0, 16)];
      expect((rows as { row: string }[]).filter(({ row }) => needles.some((needle) => row.includes(needle)))).toEqual([]);
    }
    expect(await filesWith(dir, CANARY)).toEqual([]);
  });
});
