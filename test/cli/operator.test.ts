import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { remoteOperator } from "../../src/cli/maintenance-of.js";
import { AppError } from "../../src/platform/errors.js";
import type { Job, Operator } from "../../src/ports/operator.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { fakeApplication, fakeOperator } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";
import { TaskModel } from "../support/task-model.js";
import { run } from "./run.js";

const TOKEN = "operate-0123456789";
const URL_OF_SERVER = "http://127.0.0.1:3000";

let world: World;
beforeEach(async () => {
  world = await startWorld(await tempDir(), { OPERATOR_TOKEN: TOKEN, EMBEDDING_PROVIDER: "hashing" }, { model: new TaskModel() });
});

/** A command line through the server; the directory must not be opened. */
function through(argv: readonly string[], token: string | undefined = TOKEN) {
  const fetch: typeof globalThis.fetch = async (input, init) => world.app.request(new Request(input as URL, init as RequestInit));
  const open = () => Promise.reject(new Error("the storage directory was opened"));
  return run(["--url", URL_OF_SERVER, ...argv], { parts: { fetch, open, operatorToken: () => token } });
}

describe("through a server that runs", () => {
  test("users lists who has sessions, of all tenants or of one", async () => {
    await world.as("ada").say("Good evening.");
    await world.as("bob").say("Good evening.");
    const { code, stdout } = await through(["users"]);
    expect([code, stdout.trim().split("\n").sort()]).toEqual([
      0,
      [expect.stringMatching(/^default\tada\t1 sessions\t.*Z$/), expect.stringMatching(/^default\tbob\t1 sessions\t/)],
    ]);
    expect((await through(["--tenant", "harbour", "users"])).stdout).toBe("");
    const lines = (await through(["--json", "--tenant", "default", "users"])).stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { user: string }).user).sort()).toEqual(["ada", "bob"]);
  });

  test("retention, promote and reindex run as jobs, and tell what came of them as they do without a server", async () => {
    await world.as("ada").say("Good evening.");
    expect(await through(["retention", "--dry-run"])).toMatchObject({
      code: 0,
      stdout: "0 sessions would be deleted (recoverable), 0 would be purged.\n",
    });
    expect((await through(["promote", "--all-users"])).stdout).toMatch(/^0 messages of 0 sessions/);
    expect((await through(["reindex"])).stdout).toMatch(/^Rebuilt: 0 sessions, 1 sessions searched, 0 messages added to history/);
    expect((await through(["--json", "reindex", "--memories"])).code).toBe(0);
  });

  test("promote is for all users, and says so", async () => {
    expect(await through(["promote"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--all-users") });
  });

  test("[operator-apart] the token comes from an option, a file or the environment, in this order, and is never shown", async () => {
    const file = join(world.dir, "token");
    await writeFile(file, `${TOKEN}\n`);
    expect((await through(["--token-file", file, "users"], "wrong-0123456789")).code).toBe(0);
    expect((await through(["--token", TOKEN, "users"], "wrong-0123456789")).code).toBe(0);
    const wrong = await through(["users"], "wrong-0123456789");
    expect(wrong.code).toBe(2);
    expect(wrong.stderr + wrong.stdout).not.toContain("wrong-0123456789");
    const none = await run(["--url", URL_OF_SERVER, "users"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("MAITRED_OPERATOR_TOKEN") });
    expect((await run(["--help"])).stdout).not.toContain(TOKEN);
  });

  test("[operator-apart] the operator's token is sent to no user's door", async () => {
    const sent: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      sent.push(new Headers(init?.headers).get("authorization"));
      return new Response("{}");
    };
    await run(["--url", URL_OF_SERVER, "export"], { parts: { fetch, operatorToken: () => TOKEN } });
    expect(sent).toEqual([null]);
  });
});

describe("a job that is followed", () => {
  const job: Job = {
    id: "01936b2e-7c00-7000-8000-000000000001",
    kind: "reindex",
    dry_run: false,
    state: "running",
    started_at: "2026-03-01T10:00:00.000Z",
    ended_at: null,
    progress: { done: 0, total: null },
    result: null,
    problem: null,
  };
  async function over(jobs: Partial<Operator["jobs"]>) {
    const operator = fakeOperator({ jobs: { start: async () => job, ...jobs } });
    const app = await appOver(fakeApplication(), { config: { OPERATOR_TOKEN: TOKEN }, operator });
    const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input as URL, init as RequestInit));
    return remoteOperator({ url: URL_OF_SERVER, user: "local-user", token: TOKEN, fetch }, 1);
  }
  const ended = { ...job, ended_at: "2026-03-01T10:00:01.000Z" };

  test("shows its progress as it moves", async () => {
    const seen: [number, number][] = [];
    const steps: Job[] = [
      { ...job, progress: { done: 1, total: 4 } },
      { ...job, progress: { done: 3, total: 4 } },
      { ...ended, state: "succeeded", progress: { done: 4, total: 4 }, result: { sessions: 4 } },
    ];
    const operator = await over({ get: async () => steps.shift() ?? job });
    const counts = await operator.reindex({ signal: new AbortController().signal, onProgress: (...at) => seen.push(at) });
    expect([counts, seen]).toEqual([
      { sessions: 4 },
      [
        [0, 0],
        [1, 4],
        [3, 4],
        [4, 4],
      ],
    ]);
  });

  test("is stopped when the command is interrupted", async () => {
    const interrupted = new AbortController();
    const stopped: string[] = [];
    const operator = await over({
      get: async () => job,
      stop: async (id) => {
        stopped.push(id);
        return { ...job, state: "stopping" };
      },
    });
    const running = operator.reindex({ signal: interrupted.signal, onProgress: () => interrupted.abort() });
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
    expect(stopped).toEqual([job.id]);
  });

  test("fails with what it failed with, and says so where it isn't known any more", async () => {
    const course = { signal: new AbortController().signal, onProgress: () => {} };
    const problem = { code: "LONG_TERM_MEMORY_DISABLED" as const, title: "t", detail: "d", hint: "h" };
    const failed = await over({ get: async () => ({ ...ended, state: "failed", problem }) });
    await expect(failed.reindex(course)).rejects.toMatchObject({ code: "LONG_TERM_MEMORY_DISABLED", message: "d", hint: "h" });
    const gone = await over({
      get: async () => {
        throw new AppError("JOB_NOT_FOUND");
      },
    });
    await expect(gone.reindex(course)).rejects.toMatchObject({ code: "JOB_NOT_FOUND", hint: expect.stringContaining("newest hundred") });
  });
});
