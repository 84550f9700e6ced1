import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/** As a user runs them, with nothing configured. */
async function example(name: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const { stdout } = await run(process.execPath, ["--import", "tsx", join("examples", name)], { cwd: root, env });
  return stdout;
}

test("the two sessions: the second knows what the first one said, and only with long-term memory", async () => {
  expect(await example("two-sessions.ts")).toMatch(/Both are as they should be\.\n$/);
}, 60_000);

test("a product of one's own takes one file, and says what it lacks without a model", async () => {
  expect(await example("own-domain.ts")).toContain("OPENAI_API_KEY");
}, 60_000);
