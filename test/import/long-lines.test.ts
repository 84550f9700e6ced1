import { expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import type { Message } from "../../src/domain/session.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { startWorld, tempDir } from "../e2e/world.js";

const EARLY = "I prefer jazz concerts.";
const LATE = "I love the marionette theatre.";
const READ_CHARS = 8_000;

/** Proposes each of the two sentences that it is given to read. */
function reader() {
  const lengths: number[] = [];
  const read = async ({ text }: MessageToRead): Promise<Reading> => {
    lengths.push(text.length);
    const quotes = [EARLY, LATE].filter((sentence) => text.includes(sentence));
    const operations = quotes.map((quote) => proposedOperationSchema.parse({ op: "add", quote, text: quote, category: "genre" }));
    return { operations, off_record: null, unreadable: 0 };
  };
  return { name: "by sentence", lengths, read };
}

test("of a line over 8,000 characters the beginning makes memories; all of it is kept, and found by what stands behind", async () => {
  const scripted = reader();
  const world = await startWorld(await tempDir(), {}, { reader: scripted });
  const ada = world.as("ada");
  const filler = "We talked about the weather. ".repeat(400);
  const content = `${EARLY} ${filler}${LATE}`;
  expect(content.indexOf(LATE)).toBeGreaterThan(READ_CHARS);
  const line = `${JSON.stringify({ session_id: "old", role: "user", content })}\n`;
  const imported = await ada.request("POST", "/v1/import?extract=true", line, { "Content-Type": "application/x-ndjson" });
  expect([imported.status, imported.body]).toEqual([200, { sessions: 1, messages: 1, skipped_duplicates: 0 }]);

  expect(scripted.lengths).toEqual([READ_CHARS]);
  const { body: memories } = await ada.get<{ data: Memory[] }>("/v1/memories");
  expect(memories.data.map(({ text, source }) => [text, source?.quote])).toEqual([[EARLY, EARLY.slice(0, -1)]]);

  const { body: found } = await ada.post<{ data: { session_id: string; content: string }[] }>("/v1/history/search", {
    query: "marionette",
  });
  expect(found.data.map((hit) => hit.content)).toEqual([content]);
  const { body: kept } = await ada.get<{ data: Message[] }>(`/v1/sessions/${found.data[0]?.session_id}/messages`);
  expect(kept.data.map((message) => message.content)).toEqual([content]);
});
