import { describe, expect, test } from "vitest";
import { Catalogue } from "../../packages/concierge/src/catalogue.js";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_PROMPT } from "../../packages/concierge/src/prompt.js";
import { bookTickets } from "../../packages/concierge/src/tools/book-tickets.js";
import { cancelBooking, listBookings } from "../../packages/concierge/src/tools/booking-tools.js";
import { checkAvailability, getEvent, searchEvents } from "../../packages/concierge/src/tools/catalogue-tools.js";
import { recapOf } from "../../src/agent/recap.js";
import { ToolBox, toolSpecs } from "../../src/agent/tool-box.js";
import { historyTool } from "../../src/agent/tools/history-tool.js";
import { memoryTools } from "../../src/agent/tools/memory-tools.js";
import { silentLogger } from "../../src/platform/logger.js";
import { tokenCounterFor } from "../../src/platform/tokens.js";
import type { AnyTool } from "../../src/ports/agent.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { systemPrompt } from "../../src/turn/prompt.js";

/** What the tools stand on is not asked here. */
const unused = {} as never;
const parts = { catalogue: new Catalogue(), bookings: new EngineBookings(new MemoryEngine()) };
const TOOLS: readonly AnyTool[] = [
  ...[
    searchEvents({ ...parts, gate: unused }),
    getEvent({ ...parts, gate: unused }),
    checkAvailability(parts),
    bookTickets({ ...parts, gate: unused }),
  ],
  ...[listBookings({ ...parts, gate: unused }), cancelBooking(parts.bookings)],
  ...memoryTools({
    memories: unused,
    turns: unused,
    needs: CONCIERGE_NEEDS,
    needMeant: () => null,
    inOwnWords: () => true,
    isSaidIn: () => true,
  }),
  historyTool(unused),
];

describe("what later turns are told of a tool's output", () => {
  const recap = recapOf(TOOLS);

  test("of a search the ids, of an event its id, of a quote what an answer to it needs, of memories and finds what names them", () => {
    const event = { event_id: "e-2026-03-12", title: "Tosca", venue: "Hall", time: "20:00" };
    expect(recap("search_events", { found: 7, events: [event, { ...event, event_id: "f-2026-03-13" }] })).toEqual({
      found: 7,
      events: ["e-2026-03-12", "f-2026-03-13"],
    });
    expect(recap("get_event", { ...event, sections: [] })).toEqual({ event_id: "e-2026-03-12" });
    const quote = { status: "stopped", quote_id: "q", event_id: "e", token: "t", conflicts: [{ memory_id: "m" }] };
    expect(recap("book_tickets", { ...quote, venue: "Hall", ask: "Ask." })).toEqual(quote);
    expect(recap("list_memories", { memories: [{ memory_id: "m", text: "Likes jazz", since: "2026" }], more: false })).toEqual({
      memories: [{ memory_id: "m", text: "Likes jazz" }],
      more: false,
    });
    expect(recap("search_history", { found: [{ ref: "Ref #1", said_by: "the user", at: "2026", text: "long" }] })).toEqual({
      found: [{ ref: "Ref #1", said_by: "the user", at: "2026" }],
    });
  });

  test("of a turn that is far back no lists, but what a quote or a booking is named by; without a recap all of it", () => {
    expect(recap("search_events", { found: 7, events: [{ event_id: "e" }] }, true)).toEqual({ found: 7 });
    const quote = { status: "booked", quote_id: "q", booking_id: "b", reference: "R1", event_id: "e" };
    expect(recap("book_tickets", { ...quote, companions: ["Mia"] }, true)).toEqual(quote);
    expect(recap("cancel_booking", { gone: ["b"] }, true)).toEqual({ gone: ["b"] });
  });

  test("of another shape, of a tool without a recap, or of one that is no more: all of it", () => {
    for (const output of [null, "text", [1], { truncated: true, characters: 9, start: "[" }]) {
      expect(recap("search_events", output)).toEqual(output);
      expect(recap("cancel_booking", output)).toEqual(output);
      expect(recap("gone", output)).toEqual(output);
    }
    expect(recap("search_events", { found: 1, events: ["an id"] })).toEqual({ found: 1, events: ["an id"] });
  });
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  "[arguments-known] %s is not run with an argument that it doesn't have",
  async (name, tool) => {
    const box = new ToolBox({ tools: [tool], maxOutputChars: 1_000, logger: silentLogger });
    const { error } = await box.run({ id: "c", name, arguments: '{"a_word_too_many":"plum"}' }, 0, unused);
    expect(error).toContain('there is no argument "a_word_too_many"; there are: ');
  },
);

describe("what a call is charged for", () => {
  test("tools are told without regular expressions, formats, lengths and ranges, in at most 1,650 tokens; the checks stay", async () => {
    const specs = JSON.stringify(toolSpecs(TOOLS));
    expect(specs).not.toMatch(/"(?:pattern|format|minLength|maxLength|minimum|maximum|minItems|maxItems|\$schema)":/);
    expect((await tokenCounterFor("gpt-4o")).count(specs)).toBeLessThanOrEqual(1_650);
    const booking = TOOLS.find(({ name }) => name === "book_tickets");
    expect(booking?.parameters.safeParse({ event_id: "e", quantity: 21 }).success).toBe(false);
    expect(booking?.parameters.safeParse({ event_id: "e", quantity: 20 }).success).toBe(true);
  });

  test("the system message takes at most 800 tokens, and its rules know nothing of guests, seats and bookings", async () => {
    expect((await tokenCounterFor("gpt-4o")).count(systemPrompt(CONCIERGE_PROMPT))).toBeLessThanOrEqual(800);
    expect(systemPrompt("")).not.toMatch(/guest|book|seat|price|event|ticket/i);
    expect(systemPrompt(CONCIERGE_PROMPT).startsWith(CONCIERGE_PROMPT)).toBe(true);
  });
});
