import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMaitred, type Domain } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";

/** A domain with three tools and four needs in two languages, as the page writes it and as `maitred init` does: its length, and that it works. */

const ROOT = join(import.meta.dirname, "../..");
const MOST_LINES = 60;

/** Written where a project of one's own would have it. */
async function loaded(files: Readonly<Record<string, string>>): Promise<Domain> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-domain-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  const { default: domain } = (await import(join(dir, "domain.ts"))) as { default: Domain };
  return domain;
}

async function ofThePage(): Promise<Readonly<Record<string, string>>> {
  const page = await readFile(join(ROOT, "docs/domain.md"), "utf8");
  const block = (name: string) => page.split(`\`\`\`ts ${name}\n`)[1]?.split("```")[0] ?? "";
  return { "catalogue.ts": block("catalogue"), "domain.ts": block("domain") };
}

async function ofInit(): Promise<Readonly<Record<string, string>>> {
  return { "domain.ts": await readFile(join(ROOT, "src/cli/init/domain.txt"), "utf8") };
}

describe.each([
  ["docs/domain.md", ofThePage],
  ["maitred init", ofInit],
])("%s", (_, written) => {
  test("takes sixty lines at most for three tools and four needs in two languages", async () => {
    const files = await written();
    const text = files["domain.ts"] ?? "";
    const { tools, needs } = await loaded(files);
    expect([tools.length, needs?.length]).toEqual([3, 4]);
    expect(text).toContain('languages: ["en", "de"]');
    expect(text.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(MOST_LINES);
  });

  test("[gate-of-every-domain] works without a key: marks, stops and books, in both languages", async () => {
    const domain = await loaded(await written());
    const maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain, recallDeadlineMs: 30_000 });
    onTestFinished(() => maitred.close());
    for (const { told, list, stopped, fine, yes, need } of [
      {
        told: "I am allergic to nuts, by the way.",
        list: "Which treatments do you have?",
        stopped: "book the almond oil massage",
        fine: "book the facial",
        yes: "yes",
        need: /nuts/,
      },
      {
        told: "Ich bin allergisch gegen Nüsse.",
        list: "Welche Behandlungen gibt es?",
        stopped: "buche Almond oil massage",
        fine: "buche Facial",
        yes: "ja",
        need: /Nüsse/,
      },
    ]) {
      const guest = maitred.for({ user: list.replaceAll(/\W/g, "") });
      const says = async (thread: string, message: string) => {
        const answer = await guest.chat(message, { thread });
        await guest.sessions.flush(answer.session_id, { timeoutMs: 30_000 });
        return answer.message.content;
      };
      await says("first", told);
      expect(await says("second", list)).toMatch(new RegExp(`Almond oil massage .*against: .*${need.source}`));
      expect(await says("second", stopped)).toMatch(new RegExp(`${need.source}[\\s\\S]*Shall I do it anyway\\?$`));
      expect(await says("third", fine)).toMatch(/^Facial, 2030-03-05 11:00[\s\S]*Shall I go ahead\?$/);
      expect(await says("third", yes)).toMatch(/^Done: Facial/);
    }
  });
});
