import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { statementSchema } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import { byWords } from "../support/by-words.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openQdrantHttp, type QdrantHttp } from "../support/qdrant-http.js";
import { openRedisServer } from "../support/redis-server.js";

const ADA = ownerOf("acme", "ada");
const OURS = { key: "user_id", match: { value: "maitred:marker:installation" } };
let root: string;
let qdrant: QdrantHttp;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "maitred-replaced-disk-"));
  qdrant = await openQdrantHttp();
});
afterAll(async () => {
  await qdrant.close();
  await rm(root, { recursive: true });
});

/** One that was started anew elsewhere has the shared stores, and an empty directory. */
async function replaced(name: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const startOn = (disk: string) =>
    compose(
      parseConfig(
        byWords({ ...variables, QDRANT_URL: qdrant.url, RECALL_DEADLINE_MS: "20000", MEMORY_STORAGE_DIR: join(root, `${name}-${disk}`) }),
      ),
    );
  const first = await startOn("a");
  await first.memories.add(ADA, statementSchema.parse({ text: "Likes jazz", category: "genre" }), { now: new Date() });
  await first.close();
  // All that is of Ada, and not who writes here.
  await qdrant.client.delete("memory", { filter: { must_not: [OURS] }, wait: true });

  const second = await startOn("b");
  try {
    expect((await second.readiness()).parts.long_term).toMatchObject({ status: "ok" });
    const answer = await second.chat.chat({ owner: ADA, message: "Anything good this weekend?" });
    expect(answer.memory).toMatchObject({ status: "ok", recalled: [{ text: "Likes jazz" }] });
  } finally {
    await second.close();
  }
}

const NAME = "a replica on a new disk is of the same installation: what the vectors' server lost of a guest, it fills from the memory log";
needing("postgres")("on PostgreSQL", () => {
  test(NAME, async () => {
    const server = await openPostgresServer();
    await replaced("postgres", { DATABASE_URL: server.url }).finally(server.close);
  });
});
needing("redis")("on Redis", () => {
  test(NAME, async () => {
    const server = await openRedisServer();
    await replaced("redis", { REDIS_URL: server.url }).finally(server.close);
  });
});
