import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { openDatabase } from "../../src/platform/sqlite.js";
import type { ChatModel } from "../../src/ports/agent.js";
import type { KeyVault } from "../../src/ports/key-vault.js";
import { aLife, CANARY, filesWith, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { PNG } from "../support/samples.js";
import { WEBHOOK_SECRET } from "../support/webhook-receiver.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("acme", "bob");

let base = "";
let dir = "";
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "maitred-canary-"));
  dir = join(base, "storage");
  await writeFile(join(base, "master.key"), `${MASTER_KEY}\n`);
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Says what it was told, and sees. */
const echo: ChatModel = {
  name: "echo",
  standIn: true,
  takesImages: () => true,
  async *stream() {
    yield { type: "text", delta: `Yes, ${CANARY}.` };
    yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
  },
};

async function start(env: Record<string, string> = {}, model?: ChatModel): Promise<Composed> {
  const variables = {
    MEMORY_STORAGE_DIR: dir,
    RECALL_DEADLINE_MS: "5000",
    ENCRYPTION_KEY_FILE: join(base, "master.key"),
    // Nobody answers there: what is to be delivered stays.
    WEBHOOK_URL: "http://127.0.0.1:9/hook",
    WEBHOOK_SECRET,
    EVENTS_CONTENT: "true",
    ...env,
  };
  const application = await compose(parseConfig(byWords(variables)), model ? { model } : {});
  onTestFinished(() => application.close({ drainMs: 0 }).catch(() => undefined));
  return application;
}

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

/** All that a user does, and what keeps answers, images and summaries. */
async function everything(owner: Owner, env: Record<string, string> = {}): Promise<string> {
  const application = await start(env);
  await aLife(application, owner);
  await application.close({ drainMs: 5_000 });
  const seeing = await start({ ...env, CONTEXT_MAX_TOKENS: "1500", SUMMARY_MAX_TOKENS: "100" }, echo);
  const image = { data: Buffer.concat([PNG, Buffer.from(CANARY)]) };
  const idempotency = { key: "once", requestHash: "00" };
  const { session_id } = await seeing.chat.chat({ owner, message: `What is ${CANARY}?`, images: [image], idempotency });
  for (let round = 1; round <= 14; round += 1) await tell(seeing, owner, `${CANARY} again, ${"and so on ".repeat(20)}`, session_id);
  expect((await seeing.sessions.get(owner, session_id)).summary).toContain(CANARY);
  expect((await seeing.history.search(owner, { query: CANARY })).length).toBeGreaterThan(3);
  expect(JSON.stringify((await seeing.memories.list(owner, {})).data)).toContain(CANARY);
  await seeing.close({ drainMs: 5_000 });
  return session_id;
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
