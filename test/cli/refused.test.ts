import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ErasureReceipt } from "../../src/ports/resources.js";
import type { Script } from "../support/fake-application.js";
import { AT, MEMORY_ID, sampleMemory } from "../support/samples.js";
import { type RunOptions, run, runRemote } from "./run.js";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-cli-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const RECEIPT: ErasureReceipt = { receipt_id: "r-1", completed_at: AT, erased: {}, verified: true };

describe.each([
  ["on the storage directory", run],
  ["through a server's API", runRemote],
] as const)("%s", (_where, go: (argv: readonly string[], options?: RunOptions) => ReturnType<typeof run>) => {
  describe("a user who isn't there", () => {
    const NOBODY =
      '{"format":"maitred-export","version":1,"user":null,\n"sessions":[\n],\n"memories":[\n],\n"forgotten":[],\n"records":{"bookings":[\n]}}\n';
    const exporting = async function* () {
      yield NOBODY.slice(0, 30);
      yield NOBODY.slice(30);
    };

    test("is told of, nothing is written, and the command ends with 1", async () => {
      const file = join(dir, "nobody.json");
      const application: Script = { privacy: { export: exporting } };
      for (const argv of [
        ["--user", "bob", "export"],
        ["--user", "bob", "export", file],
      ]) {
        const ran = await go(argv, { application });
        expect([ran.code, ran.stdout]).toEqual([1, ""]);
        expect(ran.stderr).toContain("Nothing is kept of a user bob");
      }
      expect(existsSync(file)).toBe(false);
      const json = await go(["--json", "--user", "bob", "export"], { application });
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "NOT_FOUND", hint: expect.stringContaining("maitred users") } });
    });

    test("has nothing to be erased", async () => {
      const erase = async () => ({ ...RECEIPT, erased: { sessions: 0, history_entries: 0 } });
      const ran = await go(["--user", "bob", "erase", "--yes"], { application: { privacy: { erase } } });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain("Nothing was kept of a user bob");
    });
  });

  describe("a command that isn't there", () => {
    test.each([
      [["sessions", "lst"], "sessions list"],
      [["sessions", "shwo", "x"], "sessions show"],
      [["memories", "forgt", "x"], "memories forget"],
    ])("is refused with the nearest: %j", async (argv, nearest) => {
      const ran = await go(argv);
      expect(ran.code).toBe(2);
      expect(ran.stderr).toContain(`Did you mean \`maitred ${nearest}\`?`);
    });

    test("words that are near to none are looked for", async () => {
      const search = async () => [];
      expect((await go(["memories", "opera", "seats"], { application: { memories: { search } } })).stdout).toBe(
        "Nothing that is remembered fits.\n",
      );
    });

    test("for a program it is JSON, like every error", async () => {
      for (const argv of [
        ["--json", "eport"],
        ["eport", "--json"],
        ["sessions", "list", "--json", "--nope"],
        ["--json", "sessions", "lst"],
      ]) {
        const ran = await run(argv);
        expect([argv, ran.code, ran.stderr]).toEqual([argv, 2, ""]);
        expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: "INVALID_REQUEST", detail: expect.any(String) } });
      }
    });
  });

  test("a list is a document a line for a program", async () => {
    const list = async () => ({ data: [sampleMemory(), sampleMemory({ text: "Loves jazz" })], nextCursor: null });
    const { stdout } = await go(["--json", "memories"], { application: { memories: { list } } });
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; text: string });
    expect(lines.map(({ id, text }) => [id, text])).toEqual([
      [MEMORY_ID, sampleMemory().text],
      [MEMORY_ID, "Loves jazz"],
    ]);
    const none = await go(["--json", "memories"], { application: { memories: { list: async () => ({ data: [], nextCursor: null }) } } });
    expect(none.stdout).toBe("");
  });
});

test.each(["bash", "zsh", "fish"])("completions for %s name every command and its options", async (shell) => {
  const { code, stdout } = await run(["completion", shell]);
  expect(code).toBe(0);
  for (const word of ["memories", "forget", "export", "migrate", "retention", "dry-run", "json"]) expect(stdout).toContain(word);
});

test("completions of a shell that isn't known are refused with those that are", async () => {
  const { code, stderr } = await run(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});
