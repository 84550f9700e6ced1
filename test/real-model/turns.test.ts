import { expect, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { openConfiguredModel } from "../../src/compose/models.js";
import { openTrial } from "../../src/compose/trial.js";
import { ownerOf } from "../../src/domain/owner.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import { run } from "../cli/run.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { openRealModel, type RealModel } from "./real-model-server.js";

const LOVES = "I love jazz, are there any concerts in Vienna?";
const CARD = "My card number is 4111 1111 1111 1111, keep it for later.";
const SECRET = "Off the record: I am about to leave my husband. Which concert is on Saturday?";
const NEED = "My daughter can't eat nuts. Is there a table for dinner?";
/** Nothing here is about time, and beside others on a busy machine an answer takes ten times as long: what hangs is all that is bounded. */
const ANSWER_MS = 600_000;
const TEST_MS = 1_800_000;
/** What a model's template, its thought and its calls are written with. */
const OF_THE_MODEL = /<\|[^|]*\|>|<\/?(?:think|thinking|tool_call|function)\b|\[\/?(?:INST|TOOL_CALLS)\]|"tool_calls"|"arguments":/;

interface Memory {
  readonly need: string | null;
  readonly text: string;
  readonly source: { readonly quote: string };
}

interface Answered {
  readonly session_id: string;
  readonly message?: { readonly content: string; readonly metadata: { readonly finish?: string } };
}

async function worldOf(model: RealModel) {
  const logged: string[] = [];
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: "smollm2",
    EMBEDDING_PROVIDER: "hashing",
    MODEL_TIMEOUT_MS: String(ANSWER_MS),
    TURN_TIMEOUT_MS: String(2 * ANSWER_MS),
    // Each message is read by itself.
    EXTRACTION_DELAY_MS: "0",
    EXTRACTION_IDLE_MS: "0",
  };
  const world = await startWorld(await tempDir(), env, { logger });
  const ada = world.as("ada");
  let session_id: string | undefined;
  return {
    logged,
    ada,
    session: async () => ada.get<{ write_back: { failed_turns: number } }>(`/v1/sessions/${session_id}`),
    /** Also what would have been read along with a message that never comes. */
    written: () => world.application.sessions.flush(ownerOf("default", "ada"), session_id ?? "", TEST_MS),
    say: async (message: string) => {
      const { status, text, body } = await ada.post<Answered>("/v1/chat", { message, session_id });
      session_id ??= body.session_id;
      return { status, text, said: body.message?.content ?? "", finish: body.message?.metadata.finish ?? null };
    },
    memories: async (status: string) => (await ada.get<{ data: Memory[] }>(`/v1/memories?status=${status}`)).body.data,
  };
}

needing("llama")("a real model, under a real llama.cpp server", () => {
  test.each([
    [2_048, [NEED, CARD, SECRET]],
    [4_096, [NEED]],
    [8_192, [LOVES]],
  ])(
    "[a-real-model-answers] of %i tokens: turns answer in words of an answer, and nothing is kept that the guest did not say or may not be",
    async (tokens, messages) => {
      const model = await openRealModel(tokens);
      const { say, written, memories, ada, session, logged } = await worldOf(model);
      for (const message of messages) {
        const { status, text, said, finish } = await say(message);
        expect([status, said], text).toEqual([200, expect.stringMatching(/\S/)]);
        expect(said).not.toMatch(OF_THE_MODEL);
        // Half an answer is said to be half, and a whole one isn't.
        const chat = model.asked.filter(({ task, status: ended }) => task === "chat" && ended === 200);
        expect(finish).toBe(chat.at(-1)?.finish === "length" ? "length" : null);
      }
      expect(await written()).toMatchObject({ pending_turns: 0 });

      const active = await memories("active");
      for (const { source } of active) expect(messages.join("\n")).toContain(source.quote);
      const kept = [...active, ...(await memories("review")), ...(await memories("superseded"))];
      // A need is known in some way, or waits for the guest's word, or it is told that its message could not be read.
      const { failed_turns: unread } = (await session()).body.write_back;
      if (messages.includes(NEED)) expect(unread > 0 || kept.some(({ need }) => need !== null)).toBe(true);
      // Any id or time may have these digits.
      const words = JSON.stringify(kept, (key, value) => (/(?:^|_)(?:id|at)$/.test(key) ? undefined : value));
      expect(words).not.toMatch(/4111|1111|husband/);
      const found = await ada.post<{ data: { text: string }[] }>("/v1/history/search", { query: "leave my husband", limit: 20 });
      expect(found.status).toBe(200);
      expect(found.text).not.toContain("husband");
      expect((await session()).text).not.toMatch(/4111 1111|husband/);
      // Answers repeat what they like: what is logged repeats neither them nor the guest.
      expect(logged.join("\n")).not.toMatch(/4111 ?1111|husband|jazz|nuts\b/);
      // No answer of its server was one of an error.
      for (const { status } of model.asked) expect(status === null || status === "left" || status < 500).toBe(true);
    },
    TEST_MS,
  );

  test(
    "[slow-reader] a guest's turn comes before the reading that the one slot is busy with",
    async () => {
      const model = await openRealModel(4_096);
      const { say, session } = await worldOf(model);
      expect((await say(LOVES)).status).toBe(200);
      await model.askedFor("extraction");
      const reading = model.asked.find(({ task }) => task === "extraction");
      const { status } = await say("Thank you!");
      expect(status).toBe(200);
      // It gave way, or was over by itself: the turn did not stand behind it to its end and another one.
      const before = model.asked.slice(
        0,
        model.asked.findLastIndex(({ task }) => task === "chat"),
      );
      expect(before.filter(({ task, status: ended }) => task !== "chat" && ended === null)).toEqual([]);
      expect(reading?.status === "left" || reading?.status === 200).toBe(true);
      expect((await session()).body.write_back.failed_turns).toBe(0);
    },
    TEST_MS,
  );

  test(
    "[doctor-true] doctor says of it what it then does",
    async () => {
      const model = await openRealModel(4_096);
      const config = parseConfig({ OPENAI_BASE_URL: model.url, OPENAI_MODEL: "smollm2", MODEL_TIMEOUT_MS: String(ANSWER_MS) });
      const { stdout } = await run(["doctor", "--model"], {
        parts: {
          readConfig: () => config,
          openModel: (it) => openConfiguredModel(it, silentLogger),
          openTrial: (it) => openTrial(it, silentLogger),
        },
      });
      // It answers, calls no tools, and has the window that its server was started with.
      expect(stdout).toMatch(/[✓!] Turn: a guest's first message is answered with the product's prompt and tools, in/);
      expect(stdout).toMatch(/[!✗] Tools: /);
      expect(stdout).toMatch(/! Context: 4,096 tokens at once, as the endpoint tells/);
      expect(stdout).toMatch(/[✓!] Speed: .*writes about \d/);
      // Of taste and need it makes no memory by itself: that is what its turns above show.
      expect(stdout).toMatch(/[!✗] Memories: smollm2 (?:reads messages, but of one it noted nothing by itself|can't read messages)/);
    },
    TEST_MS,
  );
});
