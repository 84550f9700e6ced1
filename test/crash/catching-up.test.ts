import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { collected } from "../../src/platform/collected.js";
import type { ConversationHistory } from "../../src/ports/history.js";
import type { HistoryMessage } from "../../src/ports/resources.js";
import { over } from "./pointed-ports.js";

const ada = ownerOf("default", "ada");

let dir: string;
let maitred: Composed | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-catching-up-"));
});
afterEach(async () => {
  await maitred?.close();
  await rm(dir, { recursive: true });
});

async function open(around: (history: ConversationHistory) => ConversationHistory = (history) => history): Promise<Composed> {
  maitred = await compose(parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", MEMORY_EMBEDDING_DIMENSIONALITY: "32" }), {
    around: { history: around },
  });
  return maitred;
}

/** Stands still when it has read what it is to add, until it is let go or called off. */
function halfway(): { around(history: ConversationHistory): ConversationHistory; readonly arrived: Promise<void>; go(): void } {
  let arrive: () => void = () => {};
  let go: () => void = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const all = async (messages: AsyncIterable<HistoryMessage> | Iterable<HistoryMessage>) => {
    const read: HistoryMessage[] = [];
    for await (const message of messages) read.push(message);
    return read;
  };
  return {
    arrived,
    go: () => go(),
    around: (history) =>
      over(history, {
        addSession: async (owner, sessionId, messages, options) => {
          const read = await all(messages);
          arrive();
          await Promise.race([
            gate,
            new Promise((_, reject) => options?.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true })),
          ]);
          return history.addSession(owner, sessionId, read, options);
        },
      }),
  };
}

test.each([
  ["[erasure-verified] an erasure", (on: Composed, _id: string, owner: Owner) => on.privacy.erase(owner, { by: "user" })],
  ["emptying a session", (on: Composed, id: string, owner: Owner) => on.sessions.empty(owner, id)],
  ["purging a session", (on: Composed, id: string, owner: Owner) => on.sessions.purge(owner, id, { keepMemories: false, by: "user" })],
])("%s is not undone by a history that is catching up meanwhile", { timeout: 120_000 }, async (_name, takeAway) => {
  const before = await open();
  const { session_id: id } = await before.chat.chat({ owner: ada, message: "I like jazz." });
  await before.sessions.flush(ada, id, 10_000);
  await before.close();
  for (const suffix of ["", "-wal", "-shm"]) await rm(join(dir, `vectors.db${suffix}`), { force: true });

  const slow = halfway();
  const after = await open(slow.around);
  await slow.arrived;
  expect((await after.readiness()).parts.history).toMatchObject({ status: "degraded" });
  await takeAway(after, id, ada);
  slow.go();
  while ((await after.readiness()).parts.history?.status !== "ok") await new Promise((resolve) => setImmediate(resolve));
  expect(await after.history.count(ada)).toBe(0);
  expect((await collected(after.parts.store.journal.list())).length).toBeLessThanOrEqual(1);
});
