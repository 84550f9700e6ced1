import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { conversationSets } from "./eval/conversations.js";
import { builtServer, Served } from "./turn/served.js";

/**
 * How long `maitred replay` takes to form the memories of many turns anew with the stand-in: one user's, of what strangers wrote as guests
 * type. Their export is made first, by a server. The checkout has to be built (`node scripts/build.mjs`).
 *
 * `npm run bench:replay -- [--turns 1000] [--check]`; with --check it ends with 1 over 60 seconds.
 */
const { values } = parseArgs({ options: { turns: { type: "string", default: "1000" }, check: { type: "boolean", default: false } } });
const turns = Number(values.turns);
const MOST_SECONDS = 60;
const USER = "often-here";
const checkout = resolve(import.meta.dirname, "..");

const dir = await mkdtemp(join(tmpdir(), "maitred-bench-replay-"));
try {
  const file = await exported();
  const started = performance.now();
  const { memories, ...told } = await replayed(file);
  const seconds = (performance.now() - started) / 1_000;
  const met = seconds <= MOST_SECONDS;
  process.stdout.write(`${turns} turns, ${memories} memories; ${JSON.stringify(told)}\n`);
  process.stdout.write(`${met ? "met   " : "MISSED"} ${seconds.toFixed(1)} s (at most ${MOST_SECONDS})\n`);
  process.exitCode = values.check && !met ? 1 : 0;
} finally {
  await rm(dir, { recursive: true });
}

/** Of so many turns, in conversations of their own. */
async function exported(): Promise<string> {
  const served = await Served.open(builtServer(checkout), join(dir, "storage"), {});
  const conversations = conversationSets().flatMap((set) => set.conversations.map(({ messages }) => messages));
  let said = 0;
  for (const messages of conversations) {
    let session: string | undefined;
    for (const message of messages) {
      if (said++ === turns) break;
      session = (await served.turn(USER, message, session)).sessionId;
    }
    if (session !== undefined) await served.written(USER, session);
    if (said > turns) break;
  }
  const file = join(dir, "export.json");
  const answer = await fetch(`${served.url}/v1/me/export`, { headers: { "X-User-Id": USER } });
  await writeFile(file, await answer.text());
  await served.close();
  return file;
}

async function replayed(file: string): Promise<{ readonly memories: number; readonly [count: string]: number }> {
  const command = [join(checkout, "dist", "cli.js"), "replay", "--from", file, "--user", USER, "--json"];
  const more = ["--may-lose", String(turns), "--may-lose-needs", String(turns)];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, MEMORY_STORAGE_DIR: join(dir, "empty") };
  const { stdout } = await promisify(execFile)(process.execPath, [...command, ...more], { env, maxBuffer: 2 ** 28 });
  const { messages, same, added, lost, changed } = JSON.parse(stdout);
  const { memories } = JSON.parse(await readFile(file, "utf8"));
  return { memories: memories.length, messages, same, added: added.length, lost: lost.length, changed: changed.length };
}
