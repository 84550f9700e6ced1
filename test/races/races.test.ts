import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextLoop } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JournalRecord } from "../../src/domain/session.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";

/** Answers with the question, after a number of turns of the event loop that differs from question to question. */
class EchoModel implements ChatModel {
  readonly name = "echo";
  readonly standIn = true;
  /** What the model was shown of the conversation, by question: the user messages, oldest first. */
  readonly shown = new Map<string, string[]>();
  /** Awaited before the answer to a question that it chooses. */
  gate: (question: string) => Promise<void> | undefined = () => undefined;

  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    const said = messages.flatMap((message) => (message.role === "user" ? [askedIn(message.content)] : []));
    const question = said.at(-1) ?? "";
    this.shown.set(question, said);
    await this.gate(question);
    for (let n = (question.length * 7 + question.charCodeAt(question.length - 1)) % 11; n > 0; n--) await nextLoop();
    yield { type: "text", delta: `echo of ` };
    await nextLoop();
    yield { type: "text", delta: question };
    yield { type: "end", reason: "stop", usage: { input_tokens: 0, output_tokens: 0 } };
  }
}

/** The question's own id, whatever stands around it. */
function askedIn(content: string): string {
  return /\bq-[\w-]+/.exec(content)?.[0] ?? content;
}

let dir: string;
let model: EchoModel;
let maitred: Composed;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-races-"));
  model = new EchoModel();
  maitred = await compose(parseConfig({ MEMORY_STORAGE_DIR: dir, EMBEDDING_PROVIDER: "hashing", RECALL_DEADLINE_MS: "20000" }), { model });
});
afterEach(async () => {
  await maitred.close();
  await rm(dir, { recursive: true });
});

async function journal(sessionId: string): Promise<JournalRecord[]> {
  const text = await readFile(join(dir, `${sessionId}.jsonl`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JournalRecord);
}

/** What a session must hold after these questions were asked, in this order, one turn each. */
async function expectInOrder(sessionId: string, questions: readonly string[]): Promise<void> {
  const records = await journal(sessionId);
  expect(records.map((record) => record.seq)).toEqual(records.map((_, position) => position + 1));
  expect(new Set(records.map((record) => record.id)).size).toBe(records.length);
  const messages = records.flatMap((record) => (record.type === "message" ? [[record.turn, record.body.role, record.body.content]] : []));
  expect(messages).toEqual(
    questions.flatMap((question, n) => [
      [n + 1, "user", `May I ask ${question}?`],
      [n + 1, "assistant", `echo of ${question}`],
    ]),
  );
  // Each question was asked with the answers before it in view, and nothing of any other session.
  // The window holds ten rounds, a block of as many until it leaves, and another for as long as no summary has it.
  for (const [n, question] of questions.entries()) {
    const shown = model.shown.get(question) ?? [];
    expect(shown).toEqual(questions.slice(n + 1 - shown.length, n + 1));
    expect(shown.length).toBeGreaterThanOrEqual(Math.min(n, 10) + 1);
    expect(shown.length).toBeLessThanOrEqual(30);
  }
}

async function sessionOf(owner: Owner): Promise<string> {
  return (await maitred.sessions.create(owner, {})).id;
}

test("[turn-order] 200 turns at once over 20 sessions of 5 users: in order, none lost, none twice, none in another's", async () => {
  const sessions: { owner: Owner; id: string; questions: string[] }[] = [];
  for (let user = 0; user < 5; user++) {
    const owner = ownerOf("default", `user-${user}`);
    for (let n = 0; n < 4; n++) {
      const questions = Array.from({ length: 10 }, (_, turn) => `q-${user}-${n}-${turn}`);
      sessions.push({ owner, id: await sessionOf(owner), questions });
    }
  }
  const turns = Array.from({ length: 10 }, (_, turn) =>
    sessions.map(async ({ owner, id, questions }) => {
      const question = questions[turn] ?? "";
      const answer = await maitred.chat.chat({ owner, sessionId: id, message: `May I ask ${question}?` });
      expect([answer.session_id, answer.turn, answer.message.content]).toEqual([id, turn + 1, `echo of ${question}`]);
    }),
  ).flat();
  await Promise.all(turns);
  for (const { id, questions } of sessions) await expectInOrder(id, questions);

  expect(await maitred.parts.worker.drain(60_000)).toBe(true);
  for (const { owner, id } of sessions) {
    expect(await maitred.parts.store.turns.of(owner, id)).toEqual([]);
    expect(await maitred.history.count(owner, id)).toBe(20);
    expect((await maitred.sessions.get(owner, id)).message_count).toBe(20);
  }
});

test("[turn-order] 50 turns at once on one session are answered in the order in which they came", async () => {
  const owner = ownerOf("default", "ada");
  const id = await sessionOf(owner);
  const questions = Array.from({ length: 50 }, (_, n) => `q-${n}`);
  const answers = await Promise.all(
    questions.map((question) => maitred.chat.chat({ owner, sessionId: id, message: `May I ask ${question}?` })),
  );
  expect(answers.map((answer) => answer.turn)).toEqual(questions.map((_, n) => n + 1));
  await expectInOrder(id, questions);
});

test("[turn-order] a session whose turn takes long holds up no other, of the same user neither", async () => {
  const ada = ownerOf("default", "ada");
  const slow = await sessionOf(ada);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  model.gate = (question) => (question === "q-slow" ? held : undefined);
  let slowAnswered = false;
  const waiting = ["q-slow", "q-behind"].map((question) =>
    maitred.chat.chat({ owner: ada, sessionId: slow, message: `May I ask ${question}?` }).finally(() => {
      slowAnswered = true;
    }),
  );
  const others = Array.from({ length: 20 }, async (_, n) => {
    const owner = n % 2 === 0 ? ada : ownerOf("default", `user-${n}`);
    const { message } = await maitred.chat.chat({ owner, message: `May I ask q-other-${n}?` });
    return message.content;
  });
  expect(await Promise.all(others)).toEqual(others.map((_, n) => `echo of q-other-${n}`));
  expect(slowAnswered).toBe(false);
  release();
  await Promise.all(waiting);
  await expectInOrder(slow, ["q-slow", "q-behind"]);
});

test("[turn-once] the same request 20 times at once, with one key, is one turn with one answer", async () => {
  const owner = ownerOf("default", "ada");
  const request = { owner, message: "May I ask q-once?", idempotency: { key: "once", requestHash: "h" } };
  const answers = await Promise.all(Array.from({ length: 20 }, () => maitred.chat.chat(request)));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect((await maitred.sessions.list(owner, {})).data).toHaveLength(1);
  await expectInOrder(answers[0]?.session_id ?? "", ["q-once"]);
});

test("[write-back-once] the same statement 50 times at once, in sessions of its own each, is one memory that was seen 50 times", async () => {
  const owner = ownerOf("default", "ada");
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => maitred.chat.chat({ owner, message: "I prefer jazz concerts. I need step-free access." })),
  );
  expect(new Set(answers.map((answer) => answer.session_id)).size).toBe(50);
  expect(await maitred.parts.worker.drain(60_000)).toBe(true);
  const { data } = await maitred.memories.list(owner, { limit: 200, includeSuperseded: true });
  expect(data.map(({ text, status, seen_count }) => [text, status, seen_count]).sort()).toEqual([
    ["Needs step-free access", "active", 50],
    ["Prefers jazz concerts", "active", 50],
  ]);
});
