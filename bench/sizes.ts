import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import pg from "pg";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { ownerOf } from "../src/domain/owner.js";
import { openQdrantHttp, type QdrantHttp } from "../test/support/qdrant-http.js";
import { type EngineServer, openEngines } from "./engines/servers.js";
import { EVENING } from "./tokens/conversation.js";
import { mayNote, ScriptedProvider } from "./tokens/provider.js";

/**
 * What a turn takes of each store: users who each plan an evening twice, 12 turns with tool calls and four memories, by a scripted model over
 * loopback. In bytes, indexes and all; beside them the points that go to the vectors' server, and the bytes of their payloads as JSON.
 *
 * `npm run bench:sizes -- [--users 15]`
 */
const { values } = parseArgs({ options: { users: { type: "string", default: "15" } } });
const users = Number(values.users);
const SESSIONS = 2;
const PLACE = "sizes";
const COLLECTIONS = ["memory", "history"];

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-sizes-"));
const { engines, leftOut } = await openEngines();
try {
  for (const engine of engines) {
    const qdrant = await openQdrantHttp();
    await play(engine, qdrant);
    const turns = users * SESSIONS * EVENING.length;
    console.log(`\n${engine.name}: ${turns} turns, ${users * SESSIONS} sessions, ${users} users`);
    for (const [what, bytes] of await takenBy(engine)) each(what, bytes, turns);
    for (const name of COLLECTIONS) await pointsOf(qdrant, name, turns);
    await qdrant.close();
  }
  for (const each of leftOut) console.log(`Left out: ${each}.`);
} finally {
  for (const { close } of engines) await close();
  await rm(dir, { recursive: true });
}

async function play(engine: EngineServer, qdrant: QdrantHttp): Promise<void> {
  mayNote(EVENING);
  const provider = await ScriptedProvider.open();
  const config = parseConfig({
    MEMORY_STORAGE_DIR: join(dir, engine.name),
    OPENAI_BASE_URL: provider.url,
    OPENAI_API: "chat",
    EMBEDDING_PROVIDER: "hashing",
    QDRANT_URL: qdrant.url,
    RECALL_DEADLINE_MS: "10000",
    ...engine.variables(PLACE),
  });
  const maitred = await compose(config);
  try {
    for (let n = 0; n < users * SESSIONS; n++) {
      const owner = ownerOf("default", `guest-${n % users}`);
      let sessionId: string | undefined;
      for (const turn of EVENING) {
        provider.play(turn);
        const answer = await maitred.chat.chat({ owner, message: turn.message, ...(sessionId !== undefined && { sessionId }) });
        sessionId = answer.session_id;
        if (!(await maitred.parts.worker.drain(60_000))) throw new Error("The write-back did not keep up.");
      }
    }
  } finally {
    await maitred.close();
    await provider.close();
  }
}

/** Bytes by what they are for, the whole last. */
async function takenBy(engine: EngineServer): Promise<readonly (readonly [string, number])[]> {
  const { DATABASE_URL, DATABASE_SCHEMA, REDIS_URL } = engine.variables(PLACE);
  const parts = await (DATABASE_URL !== undefined
    ? inPostgres(DATABASE_URL, DATABASE_SCHEMA ?? "")
    : REDIS_URL !== undefined
      ? inRedis(REDIS_URL)
      : inFiles(join(dir, engine.name)));
  return [...parts, ["in all", parts.reduce((sum, [, bytes]) => sum + bytes, 0)]];
}

async function inPostgres(url: string, schema: string): Promise<(readonly [string, number])[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("VACUUM");
  const { rows } = await client.query(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid)::int AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY bytes DESC LIMIT 6`,
    [schema],
  );
  await client.end();
  return rows.map(({ name, bytes }) => [String(name), Number(bytes)] as const);
}

async function inRedis(url: string): Promise<(readonly [string, number])[]> {
  const client = new Redis(url);
  const value = async (section: string, name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(await client.info(section))?.[1]);
  const bytes = await value("memory", "used_memory_dataset");
  client.disconnect();
  return [["memory, data alone", bytes]];
}

async function inFiles(root: string): Promise<(readonly [string, number])[]> {
  const taken = new Map<string, number>();
  for (const path of await readdir(root, { recursive: true })) {
    const { size, blocks } = await stat(join(root, path)).then((it) => ({ ...it, size: it.isFile() ? it.size : 0, blocks: it.blocks }));
    const what = /^[^/]+\.jsonl$/.test(path) ? "journals" : path.startsWith("owners/") ? "owners" : /^[a-z]+\.db/.exec(path)?.[0];
    if (what !== undefined && blocks > 0) taken.set(what, (taken.get(what) ?? 0) + size);
  }
  return [...taken];
}

async function pointsOf({ client }: QdrantHttp, name: string, turns: number): Promise<void> {
  let points = 0;
  let bytes = 0;
  let offset: string | number | undefined;
  do {
    const page = await client.scroll(name, { limit: 500, with_payload: true, ...(offset !== undefined && { offset }) });
    points += page.points.length;
    bytes += page.points.reduce((sum, { payload }) => sum + Buffer.byteLength(JSON.stringify(payload ?? {})), 0);
    offset = page.next_page_offset as typeof offset;
  } while (offset !== undefined && offset !== null);
  const of = (points / turns).toFixed(2);
  console.log(
    `  points in ${name.padEnd(22)}${String(points).padStart(10)}${of.padStart(12)} a turn, ${Math.round(bytes / points)} bytes of payload each`,
  );
}

function each(what: string, bytes: number, turns: number): void {
  console.log(
    `  ${what.padEnd(32)}${bytes.toLocaleString("en").padStart(10)}${Math.round(bytes / turns)
      .toLocaleString("en")
      .padStart(12)} a turn`,
  );
}
