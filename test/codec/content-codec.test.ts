import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { NewRecord, Session } from "../../src/domain/session.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Thread } from "../../src/ports/application.js";
import { FileMemoryLog } from "../../src/stores/files/file-memory-log.js";
import { FileOwnerLedger } from "../../src/stores/files/file-owner-ledger.js";
import { openFileSessionStore } from "../../src/stores/files/file-session-store.js";
import { ALICE, collected, JournalRecords } from "../../src/testing/journal-records.js";
import { memoryLogContract } from "../../src/testing/memory-log-contract.js";
import { ownerLedgerContract } from "../../src/testing/owner-ledger-contract.js";
import { sessionStoreContract } from "../../src/testing/session-store-contract.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { keptInDirectory, keptInPostgres, keptInRedis } from "../support/kept-in.js";
import { needing } from "../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.js";
import { openRedisServer, type RedisServer } from "../support/redis-server.js";
import { PNG } from "../support/samples.js";
import { sealingCodec } from "../support/sealing-codec.js";

/** Stores that are no stores of state: what can be searched by meaning, and what was sold. */
const ELSEWHERE = ["vectors.db", "bookings.db"];
const SAID = "I prefer jazz and I need step-free access, says Quillfeather.";
/** Whole words: four letters in a row stand by chance in what is sealed. */
const WORDS = [/\bjazz\b/i, /step-free/i, /quillfeather/i, /ada lovelace/i];
const VISITOR = ownerOf("default", "ada");
const IMAGE = createHash("sha256").update(PNG).digest("hex");

interface Engine {
  readonly variables: Readonly<Record<string, string>>;
  /** All that it holds, as text. */
  kept(dir: string): Promise<string>;
}

/** A guest's conversation and the end of it, on a store whose content passes a codec. */
async function story({ variables, kept }: Engine): Promise<void> {
  const dir = await tempDir();
  const world = await startWorld(dir, variables, { contentCodec: sealingCodec });
  const ada = world.as("ada");
  const { store, ledger } = world.application.parts;
  const { session_id: id } = await ada.say(SAID);
  await ada.say("And two seats at the front, please.", { session_id: id });
  await ada.request("PATCH", `/v1/sessions/${id}`, { tags: ["jazz"] });
  await ledger.seen(VISITOR, { at: new Date().toISOString(), displayName: "Ada Lovelace" });
  await store.images.put(VISITOR, id, IMAGE, Buffer.concat([PNG, Buffer.from("Quillfeather")]));
  const records = new JournalRecords();
  const write = async (record: NewRecord) => {
    const [written] = await store.journal.append(VISITOR, id, [record]);
    if (written === undefined) throw new Error("nothing was written");
    await store.index.apply(VISITOR, id, [written]);
    return written.seq;
  };
  const seq = await write(records.summary(2, "Quillfeather likes jazz"));
  await write(records.summary(2, "Quillfeather likes opera"));
  await write(records.rewind(2, seq));
  const newest = async () =>
    (await collected(store.journal.newestFirst(VISITOR, id))).flatMap(({ type, body }) =>
      type === "message" && body.role === "user" ? [body.content] : [],
    );
  expect(await newest()).toEqual(["And two seats at the front, please.", SAID]);
  await store.journal.compress(VISITOR, id);

  const text = await kept(dir);
  expect(text).toContain(id);
  expect(WORDS.filter((word) => word.test(text)).map(String)).toEqual([]);
  expect(text).not.toContain(Buffer.from("Quillfeather").toString("base64").slice(0, 14));

  const { rounds, summary } = await store.journal.window(VISITOR, id, { rounds: 5 });
  expect(rounds.map(({ user }) => user.body.content)).toEqual([SAID, "And two seats at the front, please."]);
  expect(summary?.body.text).toBe("Quillfeather likes jazz");
  expect(await newest()).toEqual(["And two seats at the front, please.", SAID]);
  const pages = await collected(store.index.pages(10));
  expect(pages.flat().map(({ owner, session }) => [owner, session.summary])).toEqual([[VISITOR, "Quillfeather likes jazz"]]);
  expect((await ada.get<Thread>(`/v1/sessions/${id}/thread`)).text).toContain(SAID);
  const listed = async (query: string) => (await ada.get<{ data: Session[] }>(`/v1/sessions?${query}`)).body.data.map((each) => each.id);
  expect(await listed("title=PREFER%20jazz")).toEqual([id]);
  expect(await listed("title=opera")).toEqual([]);
  expect(await listed("tag=jazz")).toEqual([id]);
  expect((await store.index.get(VISITOR, id))?.summary).toBe("Quillfeather likes jazz");
  expect(Buffer.from((await store.images.get(VISITOR, id, IMAGE)) ?? []).toString()).toContain("Quillfeather");
  expect(await ledger.user(VISITOR)).toMatchObject({ displayName: "Ada Lovelace" });
  const exported = (await ada.get("/v1/me/export")).text;
  expect([SAID, "step-free", "Ada Lovelace"].filter((each) => !exported.includes(each))).toEqual([]);
  expect((await ada.delete<{ verified: boolean }>("/v1/me?confirm=true")).body).toMatchObject({ verified: true });
  expect(await listed("")).toEqual([]);
  expect(await kept(dir)).not.toContain(id);
}

const NAME = "nothing of what was said is found in it; window, thread, lists, export and erasure work";

describe("content through a codec, in files", () => {
  test(NAME, () => story({ variables: {}, kept: (dir) => keptInDirectory(dir, [...ELSEWHERE, "maitred.lock"]) }));

  test("what was kept before there was a codec is read, beside what is kept since", async () => {
    const dir = await tempDir();
    const records = new JournalRecords();
    const id = "018f4e9c-7c1d-7d2a-9f00-000000000001";
    const before = await openFileSessionStore({ dir, logger: silentLogger });
    await before.journal.create(ALICE, id, [records.session(ALICE, { title: "Before" })]);
    await before.journal.append(ALICE, id, records.round(1));
    await before.images.put(ALICE, id, IMAGE, PNG);
    await before.catchUp();
    await before.close();
    const since = await openFileSessionStore({ dir, logger: silentLogger, codec: sealingCodec });
    onTestFinished(() => since.close());
    await since.index.apply(
      ALICE,
      id,
      await since.journal.append(ALICE, id, [...records.round(2), records.rewind(3, 3), ...records.round(3)]),
    );
    expect((await since.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ turn }) => turn)).toEqual([1, 3]);
    expect((await collected(since.journal.read(ALICE, id, { includeRewound: true }))).length).toBe(8);
    expect(await since.index.get(ALICE, id)).toMatchObject({ title: "Before", message_count: 4 });
    expect(Buffer.from((await since.images.get(ALICE, id, IMAGE)) ?? [])).toEqual(PNG);
    const text = await readFile(join(dir, `${id}.jsonl`), "utf8");
    expect(text).toContain("question 1");
    expect(text).not.toContain("question 2");
  });

  test("a line that was tampered with counts as damaged; without the codec nothing is taken for an empty session", async () => {
    const dir = await tempDir();
    const records = new JournalRecords();
    const id = "018f4e9c-7c1d-7d2a-9f00-000000000002";
    const first = await openFileSessionStore({ dir, logger: silentLogger, codec: sealingCodec });
    await first.journal.create(ALICE, id, [records.session(ALICE)]);
    for (const turn of [1, 2]) await first.journal.append(ALICE, id, records.round(turn));
    await first.close();
    const path = join(dir, `${id}.jsonl`);
    const lines = (await readFile(path, "utf8")).split("\n");
    lines[1] = (lines[1] ?? "").replace(/"sealed":"..../, '"sealed":"AAAA');
    await writeFile(path, lines.join("\n"));
    const again = await openFileSessionStore({ dir, logger: silentLogger, codec: sealingCodec });
    expect((await again.journal.window(ALICE, id, { rounds: 9 })).rounds.map(({ turn }) => turn)).toEqual([2]);
    await again.close();
    const without = await openFileSessionStore({ dir, logger: silentLogger });
    onTestFinished(() => without.close());
    await expect(without.journal.window(ALICE, id, { rounds: 9 })).rejects.toMatchObject({ code: "STORAGE_DAMAGED" });
    expect(await without.journal.erase(ALICE)).toMatchObject({ sessions: 1 });
  });
});

needing("postgres")("content through a codec, in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await openPostgresServer();
  }, 60_000);
  afterAll(() => server.close());
  test(NAME, () => story({ variables: { DATABASE_URL: server.url }, kept: () => keptInPostgres(server.url, "maitred") }), 60_000);
});

needing("redis")("content through a codec, in Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  }, 60_000);
  afterAll(() => server.close());
  test(NAME, () => story({ variables: { REDIS_URL: server.url }, kept: () => keptInRedis(server.url) }), 60_000);
});

async function inDirectory<T extends object>(open: (dir: string) => Promise<T>, close: (made: T) => Promise<void>) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-codec-"));
  const made = await open(dir);
  const dispose = async () => {
    await close(made);
    await rm(dir, { recursive: true });
  };
  return { ...made, dispose };
}

const FILES = "files through a codec";
const common = { fileSystem: nodeFileSystem, logger: silentLogger, codec: sealingCodec };
sessionStoreContract(FILES, () =>
  inDirectory(
    async (dir) => ({ store: await openFileSessionStore({ dir, logger: silentLogger, codec: sealingCodec }) }),
    ({ store }) => store.close(),
  ),
);
ownerLedgerContract(FILES, () =>
  inDirectory(
    async (dir) => ({ ledger: await FileOwnerLedger.open({ dir, ...common }) }),
    ({ ledger }) => ledger.close(),
  ),
);
memoryLogContract(FILES, () =>
  inDirectory(
    async (dir) => {
      const ledger = await FileOwnerLedger.open({ dir, ...common });
      return { ledger, log: await FileMemoryLog.open({ dir, ledger, ...common }) };
    },
    ({ log }) => log.close(),
  ),
);
