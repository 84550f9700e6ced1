import fc from "fast-check";
import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { ownerOf } from "../../src/domain/owner.js";
import { check } from "../../src/memories/checks/check.js";
import { asksNotToKeep, offTheRecord } from "../../src/memories/off-record.js";
import { newId } from "../../src/platform/ids.js";
import { proposedOperationSchema } from "../../src/ports/extraction.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";
import { messageOf } from "./message.js";

/** What a weak model answers: any part of the message in any field. */
const CARD = "My card number is 4111 1111 1111 1111, keep it for later.";
const OFF_RECORD = "Off the record: I am about to leave my husband. Which concert is on Saturday?";
const OPTIONS = { reader: "scripted", categories: CONCIERGE_CATEGORIES, needs: CONCIERGE_NEEDS };

function proposalOf(text: string) {
  const words = text.split(" ");
  const part = fc
    .tuple(fc.nat(words.length - 1), fc.integer({ min: 1, max: words.length }))
    .map(([at, length]) => words.slice(at, at + length).join(" "));
  const said = fc.oneof(part, fc.constantFrom("", text, "nuts"));
  return fc
    .record({
      op: fc.constantFrom("add", "add", "add", "supersede", "confirm", "end", "forget"),
      quote: fc.oneof(part, fc.constant(text)),
      text: said,
      about: said,
      aspect: said.map((each) => each.slice(0, 60)),
      condition: said.map((each) => each.slice(0, 60)),
      subject: fc.oneof(
        fc.constant("self"),
        part.map((each) => `companion:${each}`.slice(0, 70)),
      ),
      category: fc.constantFrom("other", "dietary", "accessibility", "genre", "nonsense"),
      need: fc.oneof(
        fc.constantFrom(null, "other", "no_nuts", "step_free"),
        part.map((each) => each.slice(0, 60)),
      ),
      strength: fc.constantFrom("hard", "soft"),
      stance: fc.constantFrom("stated", "stated", "unsure", "pasted", "instruction"),
      type: fc.constantFrom(null, "constraint", "fact", "preference"),
      entities: fc.array(
        part.map((each) => each.slice(0, 60)),
        { maxLength: 2 },
      ),
      tags: fc.array(
        part.map((each) => each.slice(0, 30)),
        { maxLength: 2 },
      ),
    })
    .map((each) => proposedOperationSchema.parse(each));
}

test.each([
  ["a card's number", CARD, /\b(?:4111|1111)\b/u],
  ["what is off the record", OFF_RECORD, /husband|leave|about to|saturday|concert/iu],
])("[off-record-unsaid] whatever a model makes of %s, nothing of it is kept or waits", async (_what, text, unsaid) => {
  const readMessage = (proposals: ReturnType<typeof proposedOperationSchema.parse>[]) => {
    const reading = check(messageOf(text), { operations: proposals, off_record: null, unreadable: 0 }, OPTIONS);
    return asksNotToKeep(text, ["off the record"]) ? offTheRecord(text, reading, CONCIERGE_NEEDS) : reading;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(proposalOf(text), { minLength: 1, maxLength: 6 }), async (proposals) => {
      const longTerm = new InMemoryLongTerm(undefined, { readMessage: async () => readMessage(proposals) });
      const owner = ownerOf("default", "ada");
      const stated_at = new Date("2026-03-11T10:00:00Z");
      const turn = { session_id: newId(), turn: 1, message_id: newId(), text, stated_at, time_zone: "UTC", channel: "api", context: [] };
      await longTerm.remember(owner, turn, { now: stated_at, signal: new AbortController().signal });
      const kept: unknown[] = [];
      for await (const { puts } of longTerm.log.read(owner)) kept.push(...puts);
      expect(JSON.stringify(kept, (key, value) => (key.endsWith("id") ? undefined : value))).not.toMatch(unsaid);
    }),
    { numRuns: 150 },
  );
});
