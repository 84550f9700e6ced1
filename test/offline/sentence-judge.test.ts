import { afterAll, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { MiniLmEmbedder } from "../../src/embedding/minilm/minilm-embedder.js";
import { HashingEmbedder } from "../../src/offline/hashing-embedder.js";
import { SentenceJudge } from "../../src/offline/learnt/sentence-judge.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ProposedOperation } from "../../src/ports/extraction.js";
import { standInReader } from "../support/stand-in.js";

const embedder = new MiniLmEmbedder({ grams: new HashingEmbedder({ dimension: 128 }) });
const judge = SentenceJudge.of({ embedder, logger: silentLogger });

async function read(text: string, by: SentenceJudge | null = judge): Promise<readonly ProposedOperation[]> {
  const at = new Date("2026-03-11T10:00:00Z");
  const message = { owner: ownerOf("default", "ann"), session_id: "s", turn: 1, message_id: "m", text, stated_at: at, time_zone: "UTC" };
  const { operations } = await standInReader(by).read({ ...message, context: [], known: [] }, { signal: AbortSignal.timeout(60_000) });
  return operations;
}

const brief = ({ op, text, category, strength, subject, stance }: ProposedOperation) => ({ op, text, category, strength, subject, stance });

afterAll(() => embedder.close());

test("what no rule understands is kept as it was said, where it reads like something lasting", async () => {
  const said = { op: "add", strength: "soft", subject: "self", stance: "stated" };
  const text = "Accordion music gets me every time. I like jazz.";
  const byRules = { ...said, text: "Likes jazz", category: "genre" };
  expect((await read(text, null)).map(brief)).toEqual([byRules]);
  expect((await read(text)).map(brief)).toEqual([{ ...said, text: "Accordion music gets me every time", category: "genre" }, byRules]);
  expect((await read("Noise keeps me awake, so rooms at the back are what I book.")).map(brief)).toEqual([
    { ...said, text: "Noise keeps me awake, so rooms at the back are what I book", category: "seating" },
  ]);
});

test("what seems to have to hold is asked about where it isn't plain", async () => {
  expect((await read("I am useless on stairs since my knee operation.")).map(brief)).toEqual([
    expect.objectContaining({ op: "add", strength: "hard", category: "accessibility", stance: "unsure" }),
  ]);
});

test.each([
  "Is there anything on tomorrow night?",
  "Oh great, I just love waiting in the rain.",
  "If I were rich I would sit in a box.",
  "My dentist only listens to opera.",
  "Please book two seats for Friday.",
])("nothing is kept of: %s", async (text) => {
  expect(await read(text)).toEqual([]);
});

test("[stand-in-goes-on] where meanings can't be had, messages are read by rules, which is told once", async () => {
  const told: unknown[] = [];
  const logger = { ...silentLogger, warn: (...line: unknown[]) => void told.push(line) };
  const failing = {
    id: embedder.id,
    embed: () => Promise.reject(new AppError("EMBEDDING_UNAVAILABLE", { detail: "The model's thread is not there." })),
  };
  const withoutMeaning = SentenceJudge.of({ embedder: failing, logger });
  for (const _ of [1, 2]) {
    const [taste] = await read("I love jazz. Front rows are what we always take.", withoutMeaning);
    expect(taste).toMatchObject({ op: "add", text: "Loves jazz" });
  }
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).not.toContain("jazz");
});

test("[stand-in-goes-on] with another embedder than it was trained with, nothing is judged", () => {
  expect(SentenceJudge.of({ embedder: new HashingEmbedder({ dimension: 512 }), logger: silentLogger })).toBeNull();
});
