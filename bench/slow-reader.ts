import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compose } from "../src/compose/compose.js";
import { parseConfig } from "../src/compose/config.js";
import { ownerOf } from "../src/domain/owner.js";
import { oneSlot } from "../test/fitted/one-slot.js";
import { taskOf } from "../test/fitted/task-of.js";
import type { ChatBody } from "../test/support/openai-stub.js";

/**
 * A model that writes 5 tokens a second and reads 500, on one slot, over loopback: how long guests' turns wait for readings that are under
 * way, and whether memories form. Each turn is asked for when a reading has begun, or when it hasn't within 10 seconds of the turn before.
 *
 * `npm run bench:slow-reader`, about three minutes; ends with 1 when a turn waits more than 2 seconds, or a memory is missing.
 */
const TOKEN_MS = 200;
const PROMPT_TOKEN_MS = 2;
const CHARS_A_TOKEN = 4;
const MOST_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;

const NOTED: readonly (readonly [message: string, quote: string, text: string])[] = [
  ["I love jazz, are there any concerts?", "I love jazz", "Loves jazz"],
  ["Is the opera open on Sunday?", "", ""],
  ["I always sit on the aisle, what is left there?", "I always sit on the aisle", "Always sits on the aisle"],
  ["And on Saturday?", "", ""],
  ["I prefer matinees, is there one?", "I prefer matinees", "Prefers matinees"],
  ["Thank you, which is the shortest of them?", "", ""],
];
const EXPECTED = NOTED.flatMap(([, , text]) => (text === "" ? [] : [text]));

const { server, happenings } = oneSlot(answer, {
  tokenMs: () => TOKEN_MS,
  promptMs: (body) => (JSON.stringify([body.messages, body.tools ?? []]).length / CHARS_A_TOKEN) * PROMPT_TOKEN_MS,
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const dir = await mkdtemp(join(tmpdir(), "maitred-bench-slow-reader-"));
const maitred = await compose(
  parseConfig({
    MEMORY_STORAGE_DIR: dir,
    OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    OPENAI_MODEL: "m",
    OPENAI_API: "chat",
    EMBEDDING_PROVIDER: "hashing",
    EXTRACTION_IDLE_MS: "0",
  }),
);
try {
  const owner = ownerOf("default", "bench");
  let sessionId: string | undefined;
  for (const [message] of NOTED) {
    sessionId = (await maitred.chat.chat({ owner, message, ...(sessionId !== undefined && { sessionId }) })).session_id;
    await readingBegins();
  }
  if (!(await maitred.parts.worker.drain(600_000))) throw new Error("The write-back did not keep up.");
  const { data } = await maitred.parts.longTerm.list(owner, { limit: 100 });
  report(data.map(({ text }) => text));
} finally {
  await maitred.close({ drainMs: 0 });
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
}

function answer(body: ChatBody): string {
  const task = taskOf(body);
  if (task === "title") return "An evening out";
  if (task === "turn") return "Very well, I will look for that.";
  const said = JSON.stringify(body.messages);
  const operations = NOTED.flatMap(([, quote, text]) =>
    quote !== "" && said.includes(quote) ? [{ op: "add", quote, text, category: "other", strength: "soft", subject: "self" }] : [],
  );
  return JSON.stringify({ off_record: null, operations });
}

async function readingBegins(): Promise<void> {
  const begun = happenings.all.filter(({ event }) => event === "reading began").length;
  const pause = new Promise<void>((resolve) => setTimeout(resolve, LONGEST_PAUSE_MS));
  await Promise.race([happenings.until(({ event }) => event === "reading began", begun + 1), pause]);
}

function report(memories: readonly string[]): void {
  const at = (event: string) => happenings.all.filter((each) => each.event === event).map(({ atMs }) => atMs);
  const began = at("turn began");
  const waits = at("turn came").map((came, turn) => (began[turn] ?? Number.POSITIVE_INFINITY) - came);
  const missing = EXPECTED.filter((text) => !memories.includes(text));
  const [ended, left] = [at("reading ended").length, at("reading left").length];
  console.log(`${waits.length} calls of turns waited for the slot: ${waits.map((ms) => `${Math.round(ms)} ms`).join(", ")}`);
  console.log(`readings: ${ended} ended, ${left} gave way; memories ${EXPECTED.length - missing.length} of ${EXPECTED.length}`);
  if (missing.length > 0 || Math.max(...waits) > MOST_MS) process.exitCode = 1;
}
