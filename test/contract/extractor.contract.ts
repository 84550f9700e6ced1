import { describe, expect, test } from "vitest";
import { type ExtractionInput, type Extractor, proposedOperationSchema } from "../../src/long-term.js";
import { ownerOf } from "../../src/owner.js";

export function extractionInput(text: string, more: Partial<ExtractionInput> = {}): ExtractionInput {
  return {
    owner: ownerOf("default", "guest"),
    session_id: "0190a0a0-0000-7000-8000-000000000001",
    turn: 3,
    message_id: "0190a0a0-0000-7000-8000-000000000002",
    text,
    stated_at: new Date("2026-03-11T10:00:00Z"),
    time_zone: "Europe/Berlin",
    context: [],
    related: [],
    ...more,
  };
}

const MESSAGES = [
  "I prefer jazz concerts, and I usually book 2 tickets. I need step-free access.",
  "My mother is allergic to nuts.",
  "Book me the opera on Friday.",
  "Hello there.",
  "My friend wrote: I prefer the Grand Palace.",
  "???",
  "🎷",
  "a".repeat(8_000),
  "Ich bin allergisch gegen Nüsse.",
];

/** What every extractor promises behind the guards, whatever it is made of. `make` gets a fresh one for each message. */
export function describeExtractorContract(name: string, make: () => Extractor): void {
  describe(`extractor contract: ${name}`, () => {
    test.each(MESSAGES)("proposals from %.40s are well formed and quote the message byte for byte", async (text) => {
      for (const proposal of await make().extract(extractionInput(text), { signal: new AbortController().signal })) {
        expect(proposedOperationSchema.safeParse(proposal).success).toBe(true);
        expect(text).toContain(proposal.quote);
      }
    });

    test("it has a name for the plan", () => expect(make().name).toMatch(/\S/));

    test("the same message gives the same proposals", async () => {
      const input = extractionInput(MESSAGES[0] ?? "");
      const signal = new AbortController().signal;
      expect(await make().extract(input, { signal })).toEqual(await make().extract(input, { signal }));
    });

    test("[only-users-words] what the assistant said, and what is stored, is never proposed again", async () => {
      const proposals = await make().extract(
        extractionInput("Thank you, that sounds good.", {
          context: [
            { role: "user", content: "Anything on?" },
            { role: "assistant", content: "You love techno and sit in the front row." },
          ],
        }),
        { signal: new AbortController().signal },
      );
      expect(proposals).toEqual([]);
    });

    test("the example's three wishes come out of one message", async () => {
      const proposals = await make().extract(extractionInput(MESSAGES[0] ?? ""), { signal: new AbortController().signal });
      const statements = proposals.flatMap((proposal) => (proposal.op === "add" ? [proposal.statement] : []));
      expect(statements.map(({ category, strength, scope, subject }) => ({ category, strength, scope, subject }))).toEqual([
        { category: "genre", strength: "soft", scope: "standing", subject: "self" },
        { category: "party_size", strength: "soft", scope: "standing", subject: "self" },
        { category: "accessibility", strength: "hard", scope: "standing", subject: "self" },
      ]);
    });
  });
}
