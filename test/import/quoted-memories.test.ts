import { expect, test } from "vitest";
import type { ExportedMemory, ExportedSession } from "../../src/domain/export-format.js";
import type { Memory } from "../../src/domain/memory.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { startWorld, tempDir } from "../e2e/world.js";

/** Takes every message for a preference, word for word. */
const reader = {
  name: "word for word",
  read: async ({ text }: MessageToRead): Promise<Reading> => ({
    operations: [proposedOperationSchema.parse({ op: "add", quote: text, text, category: "genre" })],
    off_record: null,
    unreadable: 0,
  }),
};

type Exported = Record<string, unknown> & { memories: ExportedMemory[]; sessions: ExportedSession[] };
const quoting = (memory: ExportedMemory, quote: string): ExportedMemory => ({
  ...memory,
  source: memory.source && { ...memory.source, quote },
});

test("of an export, a memory keeps its source where its quote stands in the messages; one with another quote is as by hand", async () => {
  const world = await startWorld(await tempDir(), {}, { reader });
  const ada = world.as("ada");
  for (const message of ["Jazz for me please", "Opera now and then", "My password is sesame42", "Tango on Sundays"]) await ada.say(message);
  const { body } = await ada.get<Exported>("/v1/me/export");
  expect(body.memories.map(({ text }) => text).sort()).toEqual(["Jazz for me please", "Opera now and then", "Tango on Sundays"]);
  const jazz = body.memories.find(({ text }) => text.startsWith("Jazz"));
  const forged = body.memories.flatMap((memory) => {
    if (memory.text.startsWith("Opera")) return [quoting(memory, "Never any opera")];
    if (!memory.text.startsWith("Tango")) return [memory];
    const elsewhere = jazz?.source && { ...jazz.source, quote: memory.source?.quote ?? "" };
    const secret = quoting({ ...memory, id: "01936b2e-7c00-7000-8000-00000000abcd", text: "The password is sesame42" }, "Hm");
    return [{ ...memory, source: elsewhere ?? null }, secret];
  });

  const bob = world.as("bob");
  await ada.delete("/v1/me?confirm=true");
  expect((await bob.post("/v1/import", { ...body, memories: forged })).status).toBe(200);
  const { body: restored } = await bob.get<{ data: Memory[] }>("/v1/memories");
  const sources = Object.fromEntries(restored.data.map(({ text, status, source }) => [text, [status, source?.quote ?? null]]));
  expect(sources).toEqual({
    "Jazz for me please": ["active", "Jazz for me please"],
    "Opera now and then": ["active", null],
    "Tango on Sundays": ["active", null],
  });
});

test.each([{ id: " " }, { id: "../x" }, { text: "x".repeat(501) }, { subject: "everybody" }])(
  "an export whose memory has %j is refused, and nothing stands in memory's way afterwards",
  async (change) => {
    const world = await startWorld(await tempDir(), {}, { reader });
    const ada = world.as("ada");
    await ada.say("Jazz for me please");
    const { body } = await ada.get<Exported>("/v1/me/export");
    const [memory] = body.memories;
    const forged = { ...body, memories: [{ ...memory, ...change }] };
    const bob = world.as("bob");
    expect(await bob.post("/v1/import", forged)).toMatchObject({ status: 400, body: { code: "INVALID_IMPORT" } });
    expect((await bob.post("/v1/memories", { text: "Likes jazz" })).status).toBe(201);
  },
);
