import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { ExportedSession } from "../../src/domain/export-format.js";
import { DirectoryLock } from "../../src/platform/directory-lock.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "../packaging/install.js";

/** The real command line in a process of its own. */

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-process-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function maitred(...argv: readonly string[]): Promise<Ended> {
  return started(...argv).ended;
}

function started(...argv: readonly string[]): { readonly ended: Promise<Ended>; kill(signal: NodeJS.Signals): void } {
  const cli = join(installed.home, "dist", "cli.js");
  const env = { PATH: process.env.PATH, EMBEDDING_PROVIDER: "hashing", MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "5000" };
  let kill: (signal: NodeJS.Signals) => void = () => {};
  const ended = new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, [cli, ...argv], { env, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
    kill = (signal) => child.kill(signal);
  });
  return { ended, kill: (signal) => kill(signal) };
}

test("chats, remembers in the next process, says who owns a directory that is in use, and erases", async () => {
  const first = await maitred("chat", "-m", "I prefer jazz concerts.");
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const second = await maitred("--json", "chat", "-m", "Anything good this weekend?");
  expect(second).toMatchObject({ code: 0, stderr: "" });
  const answer = JSON.parse(second.stdout) as { memory: { recalled: { category: string }[] } };
  expect(answer.memory.recalled.map(({ category }) => category)).toContain("genre");

  const lock = await DirectoryLock.acquire(dir, new Date());
  try {
    const busy = await maitred("export");
    expect(busy).toMatchObject({ code: 4, stdout: "" });
    expect(busy.stderr).toContain(`Process ${process.pid}`);
    expect(busy.stderr).toContain("--url");
  } finally {
    await lock.release();
  }
  const erased = await maitred("--json", "erase", "--yes");
  expect(erased.code).toBe(0);
  expect(JSON.parse(erased.stdout)).toMatchObject({ verified: true, erased: { sessions: 2 } });
}, 120_000);

const SESSIONS = 12;
/** More than are written at once, so that a session may be left in half. */
const MESSAGES = 260;
const WORDS = Array.from({ length: MESSAGES }, (_, i) => `sentence ${i}`);

const lines = Array.from({ length: SESSIONS }, (_, session) =>
  WORDS.map((content, i) => `${JSON.stringify({ session_id: `s-${session}`, role: "user", content, message_id: `m-${i}` })}\n`).join(""),
).join("");
const chatGpt = JSON.stringify(
  Array.from({ length: SESSIONS }, (_, session) => ({
    ...{ title: `Talk ${session}`, conversation_id: `s-${session}`, current_node: `m-${MESSAGES - 1}` },
    mapping: Object.fromEntries(
      WORDS.map((text, i) => {
        const message = { id: `m-${i}`, author: { role: "user" }, content: { content_type: "text", parts: [text] } };
        return [`m-${i}`, { parent: i === 0 ? null : `m-${i - 1}`, message }];
      }),
    ),
  })),
);

test.each([
  ["SIGKILL", "lines", lines, null],
  ["SIGINT", "lines", lines, 130],
  ["SIGKILL", "a ChatGPT export", chatGpt, null],
] as const)(
  "%s: an import of %s that is broken off is completed by the same command; nothing is missing, and nothing there twice",
  async (signal, _what, content, code) => {
    const file = join(dir, "..", `${basename(dir)}.import`);
    await writeFile(file, content);
    try {
      const first = started("--json", "import", file);
      let over = false;
      void first.ended.then(() => {
        over = true;
      });
      const journals = async () => (await readdir(dir)).filter((name) => name.endsWith(".jsonl")).length;
      while (!over && (await journals()) < SESSIONS / 4) await new Promise((resolve) => setTimeout(resolve, 5));
      first.kill(signal);
      expect((await first.ended).code).toBe(code);
      expect(await journals()).toBeLessThan(SESSIONS);

      const again = await maitred("--json", "import", file);
      expect(again).toMatchObject({ code: 0, stderr: "" });
      const result = JSON.parse(again.stdout) as { sessions: number; messages: number; skipped_duplicates: number };
      expect(result).toMatchObject({ sessions: SESSIONS, messages: SESSIONS * MESSAGES - result.skipped_duplicates });
      expect(result.skipped_duplicates).toBeGreaterThan(0);
      const { sessions } = JSON.parse((await maitred("export")).stdout) as { sessions: ExportedSession[] };
      expect(sessions.map(({ external_id }) => external_id).sort()).toEqual(Array.from({ length: SESSIONS }, (_, i) => `s-${i}`).sort());
      for (const { messages } of sessions) expect(messages.map(({ content: said }) => said)).toEqual(WORDS);
    } finally {
      await rm(file, { force: true });
    }
  },
  120_000,
);
