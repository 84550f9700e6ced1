import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Composed, compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { statementSchema } from "../src/domain/memory.js";
import { ownerOf } from "../src/domain/owner.js";
import { atOnce } from "./engines/at-once.js";
import { median } from "./quantile.js";

/**
 * What encryption costs a turn on files, whose user has memories and a long session: the same turn in clear and under a key, one behind the
 * other and in either order, so that the machine strikes both alike. Told is the median of the pairs, of the time and of this process's
 * processor, until the answer and until all of it is written back; and of a window of ten rounds.
 *
 * `npm run bench:encryption -- [turns=500] [memories=20]`
 */
const [turns = 500, memories = 20] = process.argv.slice(2).map(Number);
const WARM_UP = 60;
const KINDS = ["jazz", "opera", "folk", "ballet", "theatre", "football", "tapas", "ramen"];
const owner = ownerOf("default", "bench");

interface Running {
  readonly maitred: Composed;
  session: string | undefined;
}
/** In milliseconds. */
type Taken = Readonly<Record<"turn" | "turn, processor" | "written back" | "written back, processor" | "window", number>>;

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-encryption-"));
try {
  const key = join(dir, "master.key");
  await writeFile(key, randomBytes(32).toString("base64"));
  const [clear, sealed] = [await open("clear", {}), await open("sealed", { ENCRYPTION_KEY_FILE: key })];
  const pairs: (readonly [Taken, Taken])[] = [];
  for (let n = 0; n < WARM_UP + turns; n++) {
    const sealedFirst = n % 2 === 1 ? await turn(sealed, n) : undefined;
    const inClear = await turn(clear, n);
    const pair = [inClear, sealedFirst ?? (await turn(sealed, n))] as const;
    if (n >= WARM_UP) pairs.push(pair);
  }
  for (const name of Object.keys(pairs[0]?.[0] ?? {}) as (keyof Taken)[]) {
    const of = (which: 0 | 1) => median(pairs.map((pair) => pair[which][name]));
    const ratio = median(pairs.map(([before, after]) => after[name] / before[name]));
    console.log(`${name.padEnd(24)} ${of(0).toFixed(2)} ms in clear, ${of(1).toFixed(2)} ms encrypted: ${ratio.toFixed(2)} ×`);
  }
  for (const { maitred } of [clear, sealed]) await maitred.close({ drainMs: 0 });
} finally {
  await rm(dir, { recursive: true });
}

async function open(place: string, variables: Readonly<Record<string, string>>): Promise<Running> {
  const common = { MEMORY_STORAGE_DIR: join(dir, place), EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "10000" };
  const maitred = await compose(parseConfig({ ...common, ...variables }), { model: atOnce });
  for (let n = 0; n < memories; n++) {
    const text = `Likes ${KINDS[n % KINDS.length]} at venue ${n}`;
    await maitred.memories.add(owner, statementSchema.parse({ text, category: "other", aspect: `venue ${n}` }), { now: new Date() });
  }
  return { maitred, session: undefined };
}

async function turn(running: Running, n: number): Promise<Taken> {
  const { maitred, session } = running;
  const message = `Is there any ${KINDS[n % KINDS.length]} in the old town on the next free day, number ${n}?`;
  const from = performance.now();
  const processor = process.cpuUsage();
  const used = () => {
    const { user, system } = process.cpuUsage(processor);
    return (user + system) / 1_000;
  };
  const answer = await maitred.chat.chat({ owner, message, ...(session !== undefined && { sessionId: session }) });
  const answered = { turn: performance.now() - from, "turn, processor": used() };
  running.session = answer.session_id;
  await maitred.parts.worker.drain(60_000);
  const written = { "written back": performance.now() - from, "written back, processor": used() };
  const looked = performance.now();
  await maitred.parts.store.journal.window(owner, answer.session_id, { rounds: 10 });
  return { ...answered, ...written, window: performance.now() - looked };
}
