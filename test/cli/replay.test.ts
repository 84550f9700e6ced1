import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Trial } from "../../src/cli/doctor-trial.js";
import { parseConfig } from "../../src/compose/config.js";
import { openTrial, type TrialOptions } from "../../src/compose/trial.js";
import { silentLogger } from "../../src/platform/logger.js";
import { type MessageReader, proposedOperationSchema } from "../../src/ports/extraction.js";
import { openWorld, startWorld, tempDir } from "../e2e/world.js";
import { byWords } from "../support/by-words.js";
import { run } from "./run.js";

const SAID = ["I prefer jazz concerts.", "I must sit by a door, always.", "Two of us on Friday."];
const DOOR = { quote: "I must sit by a door", text: "Must sit by a door", about: "door", category: "seating" };

function readerOf(...read: readonly object[]): MessageReader {
  const operations = read.map((each) => proposedOperationSchema.parse({ op: "add", ...each }));
  return {
    name: "scripted",
    read: async ({ text }) => ({
      operations: operations.filter(({ quote }) => text.includes(quote ?? "")),
      off_record: null,
      unreadable: 0,
    }),
  };
}
const JAZZ = { quote: "I prefer jazz concerts", text: "Prefers jazz concerts", about: "jazz", category: "genre", strength: "soft" };
const careful = readerOf(JAZZ, { ...DOOR, strength: "hard" });

/** A guest's export, and the way to replay it with the stand-in or another reader. */
async function guest() {
  const dir = await tempDir();
  const world = await startWorld(dir, {}, { reader: careful });
  const ada = world.as("local-user");
  let session_id: string | undefined;
  for (const message of SAID) ({ session_id } = await ada.say(message, session_id === undefined ? {} : { session_id }));
  const file = join(await tempDir(), "export.json");
  await writeFile(file, (await ada.get("/v1/me/export")).text);
  await world.stop();
  return { dir, file, session: session_id ?? "" };
}

/** Every file of a directory with its bytes. */
async function filesOf(dir: string): Promise<readonly string[]> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  return Promise.all(files.map(async ({ parentPath, name }) => `${name} ${await readFile(join(parentPath, name), "base64")}`));
}

const asked: { config: Readonly<Record<string, unknown>>; options: TrialOptions | undefined }[] = [];
const standIn = {
  readConfig: (variables = {}) => parseConfig(byWords({ ...variables })),
  openTrial: async (config: ReturnType<typeof parseConfig>, options?: TrialOptions) => {
    asked.push({ config, options });
    return openTrial(config, silentLogger, { ...options, embeds: false });
  },
};

/** The product with another reader: what a change of model or prompt does. */
async function readBy(reader: MessageReader): Promise<Trial> {
  const { application } = await openWorld(await tempDir(), { SHORT_TERM_BACKEND: "memory" }, { reader });
  onTestFinished(() => application.close({ drainMs: 0 }));
  return application;
}

test("[replay-shows-what-is-lost] memories formed anew by the same reader are the same, and nothing is written", async () => {
  const { dir, file } = await guest();
  const before = await filesOf(dir);
  const parts = { openTrial: () => readBy(careful) };
  const replayed = await run(["replay", "--from", file, "--json"], { parts });
  expect(replayed.code).toBe(0);
  expect(JSON.parse(replayed.stdout)).toMatchObject({ messages: 6, same: 2, added: [], lost: [], changed: [], passed: true });
  expect(await filesOf(dir)).toEqual(before);
});

test("[replay-shows-what-is-lost] a reader that loses a need ends it with 6, unless so many may be lost", async () => {
  const { file } = await guest();
  const parts = { openTrial: () => readBy(readerOf()), colours: true };
  const lost = await run(["replay", "--from", file], { parts });
  expect(lost.code).toBe(6);
  expect(lost.stdout).toContain("\u001b[31m! a need is lost: Must sit by a door (must hold) (“I must sit by a door”)");
  expect(lost.stdout).toContain("- Prefers jazz concerts");
  expect((await run(["replay", "--from", file, "--may-lose", "2"], { parts })).code).toBe(6);
  expect((await run(["replay", "--from", file, "--may-lose", "2", "--may-lose-needs", "1"], { parts })).code).toBe(0);
  const softer = { ...parts, openTrial: () => readBy(readerOf(JAZZ, { ...DOOR, strength: "soft" })) };
  const softened = await run(["replay", "--from", file, "--json"], { parts: softer });
  expect([softened.code, JSON.parse(softened.stdout)]).toMatchObject([
    6,
    { same: 1, changed: [{}], needs_lost: [{ text: "Must sit by a door" }] },
  ]);
});

test("a turn is answered once more with what was known before it, or without memory, beside the answer of then", async () => {
  const { file, session } = await guest();
  const replayed = await run(["replay", session, "2", "--from", file, "--json", "--with", "LLM_VISION=off"], { parts: standIn });
  const { recorded, replayed: now } = JSON.parse(replayed.stdout);
  expect(recorded.content).not.toBe("");
  expect(now.recalled).toEqual(["Prefers jazz concerts"]);
  expect(asked.at(-1)?.config.LLM_VISION).toBe("off");
  await run(["replay", session, "2", "--from", file, "--without-memory"], { parts: standIn });
  expect(asked.at(-1)?.options).toMatchObject({ memory: false });
  expect(asked.at(-1)?.options?.history).toBeUndefined();
  // What is read by itself need not be found again from elsewhere.
  await run(["replay", "--from", file, "--may-lose", "9", "--may-lose-needs", "9"], { parts: standIn });
  expect(asked.at(-1)?.options).toMatchObject({ memory: true, history: false });
  expect((await run(["replay", session, "9", "--from", file], { parts: standIn })).code).toBe(3);
  expect((await run(["replay", session, "x", "--from", file], { parts: standIn })).code).toBe(2);
  expect((await run(["replay", "--with", "nonsense"], { parts: standIn })).stderr).toContain("a variable and its value");
});

test("conversations of one's own are read, and scored by what is expected of them", async () => {
  const file = join(await tempDir(), "set.jsonl");
  const kept = {
    id: "nuts",
    messages: ["No nuts for me, please."],
    expect: [{ text: "no nuts", match: ["nut"], hard: true }],
    forbid: ["vegan"],
  };
  const lost = { id: "opera", messages: ["Good evening!"], expect: [{ text: "opera", match: ["opera"], hard: true }] };
  const evaluated = async (...conversations: object[]) => {
    await writeFile(file, conversations.map((each) => JSON.stringify(each)).join("\n"));
    const { code, stdout, stderr } = await run(["eval", file, "--json"], { parts: standIn });
    return { code, stderr, told: stdout === "" ? null : JSON.parse(stdout) };
  };
  expect(await evaluated(kept)).toMatchObject({ code: 0, told: { conversations: 1, kept: 1, lost: 0, passed: true } });
  expect(await evaluated(kept, lost)).toMatchObject({ code: 6, told: { kept: 1, lost: 1, hardLost: 1, passed: false } });
  expect(await evaluated({ id: "x", messages: [], expect: [{ text: "x", match: ["("] }] })).toMatchObject({
    code: 2,
    told: { error: { detail: expect.stringContaining("Line 1 is no conversation") } },
  });
});
