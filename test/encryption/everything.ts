import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import type { Owner } from "../../src/domain/owner.js";
import type { ChatModel } from "../../src/ports/agent.js";
import { aLife, CANARY, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";
import { PNG } from "../support/samples.js";
import { WEBHOOK_SECRET } from "../support/webhook-receiver.js";

/** A folder with a master key, and one for storage in it. */
export async function openPlace(): Promise<{ readonly base: string; readonly dir: string }> {
  const base = await mkdtemp(join(tmpdir(), "maitred-canary-"));
  await writeFile(join(base, "master.key"), `${MASTER_KEY}\n`);
  return { base, dir: join(base, "storage") };
}

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

/** The product on files in a place, encrypted by its key; ended with the test. */
export async function startIn(base: string, env: Record<string, string> = {}, model?: ChatModel): Promise<Composed> {
  const variables = {
    MEMORY_STORAGE_DIR: join(base, "storage"),
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

/** All that a user does, and what keeps answers, images and summaries. */
export async function everythingIn(base: string, owner: Owner, env: Record<string, string> = {}): Promise<string> {
  const application = await startIn(base, env);
  await aLife(application, owner);
  await application.close({ drainMs: 5_000 });
  const seeing = await startIn(base, { ...env, CONTEXT_MAX_TOKENS: "1500", SUMMARY_MAX_TOKENS: "100" }, echo);
  const image = { data: Buffer.concat([PNG, Buffer.from(CANARY)]) };
  const idempotency = { key: "once", requestHash: "00" };
  const { session_id } = await seeing.chat.chat({ owner, message: `What is ${CANARY}?`, images: [image], idempotency });
  for (let round = 1; round <= 14; round += 1) await tell(seeing, owner, `${CANARY} again, ${"and so on ".repeat(20)}`, session_id);
  const { summary, title } = await seeing.sessions.get(owner, session_id);
  expect([summary, title]).toEqual([expect.stringContaining(CANARY), expect.stringContaining(CANARY)]);
  expect((await seeing.history.search(owner, { query: CANARY })).length).toBeGreaterThan(3);
  expect(JSON.stringify((await seeing.memories.list(owner, {})).data)).toContain(CANARY);
  await seeing.close({ drainMs: 5_000 });
  return session_id;
}
