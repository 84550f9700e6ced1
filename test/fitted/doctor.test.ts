import { describe, expect, onTestFinished, test } from "vitest";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";
import { modelDoctor } from "./model-doctor.js";
import { openOneSlotServer } from "./one-slot-server.js";
import { readingWorld } from "./reading-world.js";
import { DIALECTS, openSmallWindowServer, plainConcierge } from "./small-window-server.js";
import { taskOf } from "./task-of.js";

describe.each(DIALECTS)("[doctor-true] %s", (dialect) => {
  test.each([4_096, 2_048])("of %i tokens: what it says of turns, memories and window is what happens there", async (tokens) => {
    const server = await openSmallWindowServer(dialect, tokens, plainConcierge, { tells: true });
    const { stdout } = await modelDoctor(server.url);
    expect(stdout).toMatch(/✓ Turn: a guest's first message is answered with the product's prompt and tools, with 1 calls of tools/);
    expect(stdout).toMatch(
      /✓ Memories: m reads messages: of one it noted "Loves jazz", in .*; the guest is asked about "Mother: step free \(stairs\)"/,
    );
    expect(stdout).toMatch(
      new RegExp(`! Context: ${tokens.toLocaleString("en")} tokens at once, as the endpoint tells: tools are told in short`),
    );
    expect(stdout).toContain("OLLAMA_CONTEXT_LENGTH");
  });
});

const unreadable = (body: ChatBody) => ({ text: taskOf(body) === "reading" ? "I found nothing." : "Very well." });

test("[doctor-true] a model that answers and can't read is told as that, and so it is", async () => {
  const stub = (await OpenAIStub.open()).chatOtherwise(unreadable);
  onTestFinished(() => stub.close());
  const { stdout, code } = await modelDoctor(stub.url);
  expect(code).toBe(6);
  expect(stdout).toMatch(/✓ Turn:/);
  expect(stdout).toMatch(/✗ Memories: m can't read messages: it does not write what a reading asks for \(EXTRACTION_FAILED\)/);
  expect(stdout).toMatch(/No memories will be formed by it.*needs told plainly are asked about.*the stand-in reads in its place/);
  const { client, written, memories } = await readingWorld(unreadable);
  await client.post("/v1/chat", { message: "I love jazz, any concerts?" });
  await written();
  expect(await memories()).toEqual([]);
  const { body } = await client.get<{ parts: { write_back: { status: string; detail: string } } }>("/readyz");
  expect(body.parts.write_back).toMatchObject({ status: "degraded", detail: expect.stringContaining("1 turns failed") });
});

test("[doctor-true] a window that holds no prompt fails the turn, with what it would need", async () => {
  const server = await openSmallWindowServer("llama.cpp", 1_024, plainConcierge);
  const { stdout, code } = await modelDoctor(server.url);
  expect(code).toBe(6);
  expect(stdout).toMatch(/✗ Turn: .*reads 1,024 tokens at once; prompt and message need about/);
});

test("[doctor-true] how fast it reads and writes is told, and a slow one is said to be slow", async () => {
  const server = await openOneSlotServer((body) => (taskOf(body) === "turn" ? "Very well, a fine evening." : "[]"), {
    tokenMs: (task) => (task === "turn" ? 150 : 110),
  });
  const { stdout } = await modelDoctor(server.url);
  expect(stdout).toMatch(/! Speed: .*writes about \d\b.*\n.*Guests wait for answers/);
  expect(stdout).toMatch(/! Memories: m reads messages, but of one it noted nothing by itself/);
});

test("[doctor-true] leaves nothing behind, and asks no store that is configured", async () => {
  const stub = (await OpenAIStub.open()).chatOtherwise(unreadable);
  onTestFinished(() => stub.close());
  const { stdout } = await modelDoctor(stub.url, {
    QDRANT_URL: "http://127.0.0.1:1",
    WEBHOOK_URL: "http://127.0.0.1:1",
    WEBHOOK_SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  });
  expect(stdout).toMatch(/✓ Turn:/);
});
