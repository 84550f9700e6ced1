import { expect, test, vi } from "vitest";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { Session } from "../../src/domain/session.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ConversationQuery } from "../../src/ports/conversation-list.js";
import { EngineConversationList } from "../../src/state/conversations/conversation-list.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { named, ownerPartition } from "../../src/state/partition.js";
import { sessionKey } from "../../src/state/sessions/keys.js";
import { CutEngine } from "./cut-engine.js";

const BEGIN = Date.parse("2026-03-01T09:00:00.000Z");
const usage = { total: { input: 1, output: 1 }, cost: null } as unknown as Session["usage"];

/** As many conversations, a second apart, newest last. */
async function listOf(count: number, ownerFor: (n: number) => Owner) {
  const engine = new CutEngine(new MemoryEngine());
  const sessions = new Map(Array.from({ length: count }, (_, n) => [`session-${n}`, { owner: ownerFor(n), at: BEGIN + n * 1_000 }]));
  const list = new EngineConversationList({
    engine,
    session: async (_, id) => ({ updated_at: new Date(sessions.get(id)?.at ?? 0).toISOString(), usage }),
    begin: () => ({ end: () => {} }),
    logger: silentLogger,
  });
  for (const [id, { owner }] of sessions) {
    const puts = [named(owner), { key: sessionKey(id), value: "{}" }];
    await engine.commit(ownerPartition(owner), { id, puts });
    list.touched(owner, id, { turn: 1 });
  }
  await list.settled();
  const all = async (query: Omit<ConversationQuery, "cursor">) => {
    const ids: string[] = [];
    let reads = 0;
    for (let cursor: string | undefined; ; ) {
      const before = engine.reads;
      const page = await list.list({ ...query, ...(cursor !== undefined && { cursor }) });
      reads = Math.max(reads, engine.reads - before);
      ids.push(...page.data.map(({ sessionId }) => sessionId));
      expect(page.data.length).toBeLessThanOrEqual(query.limit);
      if (page.nextCursor === null) return { ids, reads };
      cursor = page.nextCursor;
    }
  };
  const newest = (keep: (n: number) => boolean = () => true) => [...sessions.keys()].filter((_, n) => keep(n)).toReversed();
  const failed = () => {
    for (const [id, { owner }] of sessions) list.touched(owner, id, { turn: 2, ended: { memoryStatus: "ok", failed: true } });
  };
  return { all, newest, engine, list, failed };
}

const users = (n: number) => ownerOf("default", `guest-${(n * 7) % 211}`);

test("pages of conversations follow each other without one left out or told twice, whoever they are of", async () => {
  for (const [what, ownerFor] of [
    ["of many", users],
    ["of one", () => ownerOf("default", "ada")],
    ["of one for the most part", (n: number) => (n % 10 === 0 ? users(n) : ownerOf("default", "ada"))],
  ] as const) {
    const { all, newest } = await listOf(420, ownerFor);
    for (const limit of [1, 7, 50, 200]) {
      if (limit === 1 && what !== "of many") continue;
      const { ids } = await all({ limit });
      expect([what, limit, ids]).toEqual([what, limit, newest()]);
    }
  }
});

test("what hardly any conversation fits is found, in rounds that grow", async () => {
  const rare = (n: number) => n % 400 === 3;
  const { all, newest } = await listOf(2_000, (n) => (rare(n) ? ownerOf("acme", "eve") : users(n)));
  const { ids, reads } = await all({ limit: 50, tenant: "acme" });
  expect(ids).toEqual(newest(rare));
  // Sixteen shards a round, and the users that were found.
  expect(reads).toBeLessThanOrEqual(16 * 6 + 1);
});

test("a page of fifty is read in two rounds at most, and looks at each user once", async () => {
  const { all } = await listOf(2_000, users);
  expect((await all({ limit: 50 })).reads).toBeLessThanOrEqual(16 * 2 + 50);
  const { all: ofFew } = await listOf(400, (n) => ownerOf("default", `guest-${n % 3}`));
  expect((await ofFew({ limit: 50 })).reads).toBeLessThanOrEqual(16 * 4 + 3);
});

test.each([new AppError("STORAGE_UNAVAILABLE"), new Error("crashed")])(
  "a failed turn counts once where looking for its session fails behind the commit: $message",
  async (error) => {
    const ada = ownerOf("default", "ada");
    const { engine, list, failed } = await listOf(3, () => ada);
    const read = engine.read.bind(engine);
    const reads = vi.spyOn(engine, "read").mockImplementation(async (partition, query) => {
      if (partition !== ownerPartition(ada)) return read(partition, query);
      reads.mockRestore();
      throw error;
    });
    failed();
    await list.settled();
    await list.settled();
    expect((await list.list({ limit: 10 })).data.map(({ notes }) => notes.failed)).toEqual([1, 1, 1]);
  },
);
