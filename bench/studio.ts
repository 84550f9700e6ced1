import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { DEFAULT_CATEGORIES } from "../src/domain/categories.js";
import { statementSchema } from "../src/domain/memory.js";
import { type Owner, ownerOf } from "../src/domain/owner.js";
import { createHttpApp } from "../src/http/app.js";
import { recordFrom } from "../src/memories/statement-record.js";
import { systemClock } from "../src/platform/clock.js";
import { newId } from "../src/platform/ids.js";
import { silentLogger } from "../src/platform/logger.js";
import { EngineConversationList } from "../src/state/conversations/conversation-list.js";
import type { StateEngine } from "../src/state/engine.js";
import { SqliteEngine } from "../src/state/engines/sqlite/sqlite-engine.js";
import { EngineMemoryLog } from "../src/state/memory-log/memory-log.js";
import { quantile } from "./quantile.js";

/**
 * What an operator waits for, in the server: pages of the list of all conversations, one of them, and a guest with many memories. Each is
 * asked for as Studio does, over the whole application without a port. `--database URL`: over PostgreSQL instead of SQLite.
 *
 * `npm run bench:studio -- [--conversations 100000] [--entries 5000] [--database URL] [--seeded] [--check]`; with --check it ends with
 * 1 where one takes over 200 ms as a rule, or works as long at worst: of a busy machine the first tells little. `--seeded`: the database
 * holds what an earlier run made of the same numbers.
 */
const { values } = parseArgs({
  options: {
    conversations: { type: "string", default: "100000" },
    entries: { type: "string", default: "5000" },
    database: { type: "string" },
    seeded: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
const [conversations, entries] = [Number(values.conversations), Number(values.entries)];
const BAR_MS = 200;
const LOOKS = 20;
const TOGETHER = 64;
const OF_EACH = 10;
const TOKEN = "operate-0123456789";
/** The first is looked at again and again; the others once, when nothing is known of them in the process. */
const [GUEST, ...OTHERS] = ["long-known", "known-2", "known-3", "known-4", "known-5"] as const;
const BEGIN = Date.parse("2026-01-01T00:00:00.000Z");

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-studio-"));
try {
  process.exitCode = await run();
} finally {
  await rm(dir, { recursive: true });
}

async function run(): Promise<number> {
  // Nothing else is to be done meanwhile: what was seeded is in no index of history, and would be put there.
  const alone = { EMBEDDING_PROVIDER: "hashing", HISTORY_BACKEND: "none" };
  const variables = { MEMORY_STORAGE_DIR: dir, OPERATOR_TOKEN: TOKEN, STUDIO_CONTENT: "true", ...alone };
  const database = values.database === undefined ? {} : { DATABASE_URL: values.database };
  const config = parseConfig({ ...variables, ...database });
  const state = values.database === undefined ? await SqliteEngine.open({ path: join(dir, "state.db"), logger: silentLogger }) : undefined;
  let engine: StateEngine | undefined = state;
  const around = {
    engine: (it: StateEngine) => {
      engine = it;
      return it;
    },
  };
  const application = await compose(config, { around, ...(state && { state }) });
  const { store, operator } = application.parts;
  const app = await createHttpApp({ application, config, logger: silentLogger, clock: systemClock, operator });
  const get = async (path: string) => {
    const response = await app.request(`/v1/operator/${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    if (response.status !== 200) throw new TypeError(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { readonly next_cursor: string | null; readonly data: readonly { readonly session_id: string }[] };
  };
  if (engine === undefined) throw new TypeError("There is no engine.");
  const list = new EngineConversationList({
    engine,
    session: (owner, id) => store.index.listed(owner, id),
    begin: () => ({ end: () => {} }),
    logger: silentLogger,
  });
  if (!values.seeded) await seed();
  for (const guest of [GUEST, ...OTHERS]) await remember(engine, ownerOf("default", guest));

  const first = await get("conversations?limit=50");
  const [session] = first.data;
  const asOf = new Date(BEGIN + (entries / 2) * 1_000).toISOString();
  const paths: Readonly<Record<string, string | readonly string[]>> = {
    "conversations, first page": "conversations?limit=50",
    "conversations, 200 of them": "conversations?limit=200",
    "conversations, next page": `conversations?limit=50&cursor=${first.next_cursor}`,
    "conversations of a tenant without any": "conversations?tenant=acme&limit=50",
    "conversations of a user": "conversations?user=guest-7&limit=50",
    "a conversation": `conversations/${session?.session_id}?user=guest-${Math.floor((conversations - 1) / OF_EACH)}`,
    "a guest": `guests/${GUEST}`,
    "a guest who was not looked at before": OTHERS.map((guest) => `guests/${guest}`),
    "a guest's timeline, first page": `guests/${GUEST}/timeline?limit=50`,
    "a guest's timeline, far back": `guests/${GUEST}/timeline?limit=50&cursor=100`,
    "a guest's timeline, as of then": `guests/${GUEST}/timeline?limit=50&as_of=${asOf}`,
    queues: "queues",
    plots: "plots?step=day",
    health: "health",
  };
  let missed = 0;
  for (const [what, path] of Object.entries(paths)) {
    const [took, worked]: [number[], number[]] = [[], []];
    for (const each of typeof path === "string" ? Array.from({ length: LOOKS }, () => path) : path) {
      const [from, before] = [performance.now(), process.cpuUsage()];
      await get(each);
      took.push(performance.now() - from);
      const { user, system } = process.cpuUsage(before);
      worked.push((user + system) / 1_000);
    }
    const [p50, p95, work] = [quantile(took, 0.5), quantile(took, 0.95), quantile(worked, 0.95)];
    if (p50 > BAR_MS || work > BAR_MS) missed += 1;
    const met = p50 <= BAR_MS && work <= BAR_MS ? "met   " : "MISSED";
    say(`${met} ${what}: p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms; work of it p95 ${work.toFixed(1)} ms`);
  }
  await application.close({ drainMs: 0 });
  return values.check && missed > 0 ? 1 : 0;

  async function seed(): Promise<void> {
    const begun = performance.now();
    let made = 0;
    await Promise.all(
      Array.from({ length: TOGETHER }, async () => {
        for (let n = made++; n < conversations; n = made++) await conversation(ownerOf("default", `guest-${Math.floor(n / OF_EACH)}`), n);
      }),
    );
    await list.settled();
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
    say(`${conversations} conversations, made in ${seconds} s`);
  }

  async function conversation(owner: Owner, n: number): Promise<void> {
    const id = newId();
    const at = new Date(BEGIN + n * 1_000).toISOString();
    const records = [
      { type: "session", id: newId(), turn: 0, at, body: { owner, title: `Evening ${n}`, agent_type: "concierge" } },
      { type: "message", id: newId(), turn: 1, at, body: { role: "user", content: `What is on, on evening ${n}?`, remember: false } },
      { type: "message", id: newId(), turn: 1, at, body: { role: "assistant", content: "Very well.", outcome: "completed" } },
    ] as const;
    await store.index.apply(owner, id, await store.journal.create(owner, id, records));
    list.touched(owner, id, { turn: 1 });
  }
}

/** One memory after the other, as turns give them; nothing where an earlier run did. */
async function remember(engine: StateEngine, guest: Owner): Promise<void> {
  const log = new EngineMemoryLog(engine);
  if ((await log.lastSeq(guest)) > 0) return;
  for (let n = 0; n < entries; n++) {
    const now = new Date(BEGIN + n * 1_000);
    const source = { session_id: newId(), turn: 1, message_id: newId(), quote: `I like the rows at the back in house ${n}` };
    const statement = statementSchema.parse({
      text: `Likes the rows at the back in house ${n}`,
      category: "seating",
      aspect: `house ${n}`,
    });
    const record = recordFrom({ id: newId(), statedAt: now.toISOString(), source, statement, waits: null }, now, DEFAULT_CATEGORIES);
    const { quote: _, ...said } = source;
    const entry = { kind: "turn", turn: { ...said, reader: "bench" }, puts: [record], removed: [] } as const;
    await log.append(guest, entry, { expectedSeq: n, now });
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
