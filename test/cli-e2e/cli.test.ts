import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { RetentionReport } from "../../src/after-turn/retention.js";
import { STATE_FILE } from "../../src/compose/engine.js";
import type { Memory } from "../../src/domain/memory.js";
import type { Session } from "../../src/domain/session.js";
import { openDatabase } from "../../src/platform/sqlite.js";
import type { ImportResult } from "../../src/ports/application.js";
import type { ChatAnswer, ErasureReceipt } from "../../src/ports/resources.js";
import { ServerProcess } from "../e2e/server-process.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { type Desk, openDesk } from "./command.js";

/** The command line as it is installed: `dist/cli.js` in processes of its own, one after the other on one storage directory. */

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

async function desk(): Promise<Desk> {
  const opened = await openDesk(installed);
  onTestFinished(() => opened.remove());
  return opened;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what moves a cursor or sets a colour begins with it
const ESCAPE = /\u001b/;
const LONG_MS = 120_000;

const LINES = [
  { session_id: "old-1", role: "user", content: "I dislike musicals.", created_at: "2024-01-05T10:00:00Z" },
  { session_id: "old-1", role: "assistant", content: "Noted.", created_at: "2024-01-05T10:00:05Z" },
  { session_id: "old-2", role: "user", content: "Do you know the Belvedere?", created_at: "2024-02-05T10:00:00Z" },
];

async function linesFile({ dir }: Desk, lines: readonly object[] = LINES): Promise<string> {
  const file = join(dir, "lines.ndjson");
  await writeFile(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  return file;
}

interface Diagnosis {
  readonly status: string;
  readonly findings: readonly { readonly status: string; readonly advice: string | null }[];
}

async function journalsIn(storage: string): Promise<string[]> {
  return (await readdir(storage)).filter((name) => name.endsWith(".jsonl")).map((name) => join(storage, name));
}

/** Two years pass for every session: in the journals, of which the index is to be made anew. */
async function growOld(storage: string): Promise<void> {
  const older = (_: string, year: string) => `"at":"${Number(year) - 2}-`;
  for (const path of await journalsIn(storage)) await writeFile(path, (await readFile(path, "utf8")).replaceAll(/"at":"(\d{4})-/g, older));
}

/** What the index holds of sessions. */
const INDEX_KEYS = ["session/", "by-activity/", "by-external/", "standing/", "summary/", "request/", "job/"];

function loseIndex(storage: string): void {
  const db = openDatabase(join(storage, STATE_FILE));
  for (const prefix of INDEX_KEYS) db.prepare("DELETE FROM entries WHERE key GLOB ? || '*'").run(prefix);
  db.close();
}

describe("chat", () => {
  test(
    "in a pipe a line is a message, commands work between them, nothing but the answers is written, and what was said is remembered in the next process",
    async () => {
      const { run, json } = await desk();
      const talk = await run(["chat"], { stdin: "I prefer jazz concerts.\n/sessions\n/new\nHello\n/sessions\n/quit\nnever said\n" });
      expect(talk).toMatchObject({ code: 0, stderr: "" });
      expect(talk.stdout).not.toMatch(ESCAPE);
      expect(talk.stdout).not.toContain("›");
      expect(talk.stdout).toMatch(/ 1\* I prefer jazz concerts\./);
      expect(talk.stdout).toMatch(/ 1\* Hello.*\n +2 {2}I prefer jazz concerts\./);

      const [answer] = await json<ChatAnswer>(["chat", "-m", "Anything good this weekend?"]);
      expect(answer?.memory).toMatchObject({ status: "ok", recalled: [expect.objectContaining({ category: "genre" })] });
      const plain = await run(["chat", "-s", answer?.session_id ?? "", "-m", "And next week?"]);
      expect(plain).toMatchObject({ code: 0, stderr: "" });
      expect(plain.stdout).toContain("Kept in mind: ");
      expect(plain.stdout).not.toMatch(ESCAPE);

      const forgot = await run(["--json", "chat"], { stdin: "/memories\n/forget 1\n/memories\n" });
      const [memories, , left] = forgot.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Memory[]);
      expect([memories?.map(({ category }) => category), left]).toEqual([["genre"], []]);
      const broken = await run(["chat"], { stdin: "/nothing\n/why 9\n/memories\n" });
      expect(broken).toMatchObject({ code: 1, stdout: expect.stringMatching(/\S/) });
      expect(broken.stderr).toContain("There is no /nothing.");
    },
    LONG_MS,
  );
});

describe("import, export, erase", () => {
  test(
    "[export-complete] what is taken in is there once, what is given out can be taken back, and what was erased is gone",
    async () => {
      const one = await desk();
      const { run, json, dir } = one;
      const file = await linesFile(one);
      expect(await json<ImportResult>(["import", file, "--extract"])).toEqual([{ sessions: 2, messages: 3, skipped_duplicates: 0 }]);
      const bad = await linesFile(one, [LINES[0] ?? {}, { session_id: "x", role: "nobody", content: "?" }]);
      const refused = await run(["import", bad]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toMatch(/\b2\b/);

      const out = join(dir, "mine.json");
      expect((await run(["export", out])).stderr).toBe("");
      expect((await stat(out)).mode & 0o777).toBe(0o600);
      const content = (text: string) => ({ ...(JSON.parse(text) as Record<string, unknown>), exported_at: null });
      const exported = content(await readFile(out, "utf8"));
      expect(exported).toMatchObject({ sessions: [{}, {}], memories: [{}] });
      const [receipt] = await json<ErasureReceipt>(["erase", "--yes"]);
      expect(receipt).toMatchObject({ verified: true, erased: { sessions: 2, messages: 3, memories: 1 } });
      expect(await json<ImportResult>(["import", out])).toEqual([{ sessions: 2, messages: 3, skipped_duplicates: 0 }]);
      const back = await run(["export"]);
      expect(back).toMatchObject({ code: 0, stderr: "" });
      expect(content(back.stdout)).toEqual(exported);
    },
    LONG_MS,
  );
});

describe("work on the stores", () => {
  test(
    "[index-derived] a changed dimension stops server and commands with what to do; reindex does it, and memories and history are found again, also where the index was lost",
    async () => {
      const { run, json, dir } = await desk();
      await json(["chat", "-m", "I prefer jazz concerts."]);
      const storage = join(dir, "storage");
      const env = { MEMORY_EMBEDDING_DIMENSIONALITY: "256" };

      const stopped = await ServerProcess.start(installed, { MEMORY_STORAGE_DIR: storage, ...env }).ended;
      expect(stopped.code).toBe(1);
      expect(stopped.stderr).toContain("maitred reindex");
      const [diagnosis] = await json<Diagnosis>(["doctor"], { code: 6, env });
      expect(diagnosis?.findings.find(({ status }) => status === "fail")?.advice).toContain("maitred reindex");

      loseIndex(storage);
      expect(await json(["reindex"], { env })).toEqual([
        expect.objectContaining({ sessions: 1, sessions_searched: 1, sessions_failed: 0 }),
      ]);
      const stdin = "Anything good this weekend?\n/new\nWhat did I say about jazz last time?\n/sessions\n";
      const talk = await run(["--json", "chat"], { stdin, env });
      expect(talk).toMatchObject({ code: 0, stderr: "" });
      const [first, , second, sessions] = talk.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
      expect(first).toMatchObject({ memory: { status: "ok", recalled: [expect.objectContaining({ category: "genre" })] } });
      expect((second as ChatAnswer).elements.map(({ content }) => content)).toContain("I prefer jazz concerts.");
      expect(sessions).toHaveLength(3);
    },
    LONG_MS,
  );

  test(
    "promote makes memories of what was said while Mem0 was off; retention says what it would do, and does it",
    async () => {
      const { run, json, dir } = await desk();
      await json(["chat", "-m", "I prefer jazz concerts."], { env: { MEM0_ENABLED: "false" } });
      expect(await json(["promote"])).toMatchObject([{ sessions: 1, messages: 1, stored: 1, failed_sessions: 0 }]);
      await growOld(join(dir, "storage"));
      await json(["reindex"]);
      expect(await json<RetentionReport>(["retention", "--dry-run"])).toMatchObject([{ dry_run: true, deleted: 1, purged: 0 }]);
      expect(await run(["retention", "--apply"])).toEqual({ code: 0, stdout: "1 sessions deleted (recoverable), 0 purged.\n", stderr: "" });
      expect(await json(["retention", "--dry-run"])).toMatchObject([{ deleted: 0, purged: 0 }]);
    },
    LONG_MS,
  );

  test(
    "doctor finds nothing where nothing is wrong, and names a damaged journal; a wrong variable ends a command with its name",
    async () => {
      const { run, json, dir } = await desk();
      expect((await json<Diagnosis>(["doctor"]))[0]?.status).toBe("ok");
      await json(["chat", "-m", "Hello"]);
      const [journal] = await journalsIn(join(dir, "storage"));
      if (journal === undefined) throw new Error("there is no journal");
      const lines = (await readFile(journal, "utf8")).split("\n");
      await writeFile(journal, [lines[0], "this is no record", ...lines.slice(1)].join("\n"));
      const ill = await run(["doctor"]);
      expect(ill).toMatchObject({ code: 6, stderr: "" });
      expect(ill.stdout).toContain(journal);
      expect(ill.stdout).not.toMatch(ESCAPE);
      const wrong = await run(["chat", "-m", "Hello"], { env: { LLM_PROVIDER: "oracle" } });
      expect(wrong).toMatchObject({ code: 2, stdout: "" });
      expect(wrong.stderr).toContain("LLM_PROVIDER");
    },
    LONG_MS,
  );
});

describe("while a server owns the directory", () => {
  test(
    "commands say so and how to go on; with --url they go through its API, those over all users by its operator's token",
    async () => {
      const one = await desk();
      const { run, json, dir } = one;
      const server = ServerProcess.start(installed, { MEMORY_STORAGE_DIR: join(dir, "storage"), RECALL_DEADLINE_MS: "5000" });
      const url = await server.url();
      const busy = await run(["chat", "-m", "Hello"]);
      expect(busy).toMatchObject({ code: 4, stdout: "" });
      expect(busy.stderr).toContain(`Process ${server.pid}`);
      expect(busy.stderr).toContain(`--url ${url}`);
      const kept = await run(["retention", "--dry-run"]);
      expect(kept.code).toBe(4);
      expect(kept.stderr).toContain(`--url ${url}`);
      expect(await json(["doctor"])).toMatchObject([{ status: "warn" }]);

      const through = ["--url", url];
      const [answer] = await json<ChatAnswer>([...through, "chat", "-m", "I prefer jazz concerts."]);
      expect(answer?.turn).toBe(1);
      const talk = await run([...through, "chat", "-s", answer?.session_id ?? ""], { stdin: "Thank you.\n/sessions\n" });
      expect(talk).toMatchObject({ code: 0, stderr: "" });
      expect(talk.stdout).toContain("1* I prefer jazz concerts.");
      expect(await json<ImportResult>([...through, "import", await linesFile(one)])).toEqual([
        { sessions: 2, messages: 3, skipped_duplicates: 0 },
      ]);
      const exported = JSON.parse((await run([...through, "export"])).stdout) as { sessions: Session[] };
      expect(exported.sessions).toHaveLength(3);
      expect((await json<{ status: string }>([...through, "doctor"]))[0]?.status).toBe("ok");
      expect(await run([...through, "retention", "--dry-run"])).toMatchObject({ code: 2, stdout: "" });
      expect((await json<ErasureReceipt>([...through, "erase", "--yes"]))[0]).toMatchObject({ verified: true, erased: { sessions: 3 } });

      server.signal("SIGTERM");
      expect((await server.ended).code).toBe(0);
      expect(await run([...through, "chat", "-m", "Hello"])).toMatchObject({ code: 5, stdout: "" });
    },
    LONG_MS,
  );
});
