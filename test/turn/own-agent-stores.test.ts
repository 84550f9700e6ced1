import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import type { GivenMessage } from "../../src/domain/given-messages.js";
import { ownerOf } from "../../src/domain/owner.js";
import { ENGINES, type EngineServer } from "../replicas/engines.js";
import { byWords } from "../support/by-words.js";
import { needing } from "../support/needing.js";

const ada = ownerOf("acme", "ada");
const said = (content: string): GivenMessage => ({ role: "user", content });
const answered = (content: string): GivenMessage => ({ role: "assistant", content });

async function on(variables: Readonly<Record<string, string>>, story: (maitred: Composed) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-own-agent-"));
  const maitred = await compose(parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "10000", ...variables })));
  try {
    await story(maitred);
  } finally {
    await maitred.close();
    await rm(dir, { recursive: true });
  }
}

/** Messages, their answers later, the same request again, and an emptied session. */
async function story(maitred: Composed): Promise<void> {
  const { ownAgent, sessions, memories, history } = maitred;
  const { id: sessionId } = await sessions.create(ada, { title: "Mine" });
  const add = (messages: readonly GivenMessage[], key?: string) =>
    ownAgent.addMessages({ owner: ada, sessionId, messages, ...(key !== undefined && { idempotency: { key, requestHash: "h" } }) });
  const flushed = async () => expect(await sessions.flush(ada, sessionId, 20_000)).toEqual({ pending_turns: 0, failed_turns: 0 });
  const first = [said("I prefer jazz concerts."), { role: "tool" as const, content: "F7", name: "seats" }];
  const [one, two] = await Promise.all([add(first, "key"), add(first, "key")]);
  expect(two).toEqual(one);
  await flushed();
  await add([answered("Row F, then."), answered("Anything else?"), said("Step-free access, I need that."), answered("Noted.")]);
  await flushed();
  expect(await add(first, "key")).toEqual(one);
  await expect(
    ownAgent.addMessages({ owner: ada, sessionId, messages: first, idempotency: { key: "key", requestHash: "x" } }),
  ).rejects.toMatchObject({
    code: "IDEMPOTENCY_KEY_REUSED",
  });

  const asked = { key: "made", requestHash: "h" };
  const made = await Promise.all([sessions.create(ada, {}, asked), sessions.create(ada, {}, asked)]);
  expect(new Set([...made, await sessions.create(ada, {}, asked)].map(({ id }) => id)).size).toBe(1);
  await expect(sessions.create(ada, {}, { ...asked, requestHash: "x" })).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  const stated = () => memories.add(ada, { text: "Likes tea" }, { now: new Date(), request: asked });
  expect((await stated()).id).toBe((await stated()).id);
  await memories.forget(ada, (await stated()).id, { now: new Date() });

  const thread = await sessions.thread(ada, sessionId);
  expect(thread.steps.map(({ output }) => output)).toEqual([
    "I prefer jazz concerts.",
    "F7",
    "Row F, then.",
    "Anything else?",
    "Step-free access, I need that.",
    "Noted.",
  ]);
  const { rounds } = await maitred.parts.store.journal.window(ada, sessionId, { rounds: 9 });
  expect(rounds.map(({ turn, interim = [], steps }) => [turn, interim.length, steps.length])).toEqual([
    [1, 1, 1],
    [2, 0, 0],
  ]);
  const context = await ownAgent.context({ owner: ada, query: "Seats", sessionId });
  expect(context.text).toMatch(/Step-free access \(accessibility, must hold\)/);
  expect(context.text).toContain('- Tool seats: "F7"\n- Assistant: Row F, then.\n- Assistant: Anything else?');
  expect(context.history).toEqual([]);
  expect((await history.search(ada, { query: "Row F", limit: 1 }))[0]?.content).toBe("Row F, then.");

  await sessions.empty(ada, sessionId);
  expect(await sessions.get(ada, sessionId)).toMatchObject({ title: "Mine", status: "active", message_count: 0 });
  expect((await sessions.messages(ada, sessionId, {})).data).toEqual([]);
  expect(await history.search(ada, { query: "Row F" })).toEqual([]);
  expect((await memories.list(ada, {})).data.map(({ source }) => source?.quote ?? "")).toEqual(["", ""]);
  await add([said("Hello again"), answered("Welcome back.")]);
  await flushed();
  expect((await sessions.get(ada, sessionId)).message_count).toBe(2);
}

const engine = (open: () => Promise<EngineServer>) => async () => {
  const server = await open();
  try {
    await on(server.variables, story);
  } finally {
    await server.close();
  }
};

const NAME = "what another agent gives is kept once, read, told and taken out again";
test(`on files, ${NAME}`, () => on({}, story));
test(`in memory, ${NAME}`, () => on({ SHORT_TERM_BACKEND: "memory" }, story));
for (const { program, name, open } of ENGINES) needing(program)(`on ${name}`, () => test(NAME, engine(open), 120_000));

describe("[window-bounded] an append", () => {
  test("reads as much of a long conversation as of a short one, whether or not its messages were answered", async () => {
    await on({ EXTRACTION_DELAY_MS: "600000" }, async ({ ownAgent, sessions, parts }) => {
      const { journal } = parts.store;
      const lengths: number[] = [];
      for (const turns of [20, 200]) {
        const { id: sessionId } = await sessions.create(ada, {});
        for (let at = 0; at < turns; at += 100) {
          const messages = Array.from({ length: Math.min(100, turns) }, (_, n) => said(`Turn ${at + n} of a talk that nobody answers.`));
          await ownAgent.addMessages({ owner: ada, sessionId, messages, remember: false });
        }
        lengths.push((await journal.window(ada, sessionId, { rounds: 0 })).bytesRead);
        const key = { owner: ada, channel: "test", session: { externalId: `${turns}` } };
        const items = Array.from({ length: turns }, (_, n) => ({ role: "system" as const, text: "", item: { n } }));
        await parts.log.append(key, [{ role: "user", text: "Begin", item: {} }, ...items]);
        expect((await parts.log.items(key, 2)).map(({ item }) => item)).toEqual([{ n: turns - 2 }, { n: turns - 1 }]);
      }
      expect(lengths[1]).toBeLessThanOrEqual(64 * 1024);
    });
  });
});
