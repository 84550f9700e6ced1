import { expect } from "vitest";
import type { BookingReceipt } from "../../src/domain/booking-receipt.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { type Client, startWorld, tempDir } from "../e2e/world.js";

/** Events of the concierge's catalogue that are reached by stairs only. */
export const CELLAR = "night-shift-trio-2026-03-13";
export const OTHER_CELLAR = "blue-chimney-2026-03-13";

/** Books what the message names as `BOOK event` or `BOOK event quote`, and otherwise only answers. */
export const namedBooking: ChatModel = {
  name: "booking",
  standIn: false,
  async *stream({ messages, tools }: ModelRequest): AsyncGenerator<ModelEvent> {
    const last = messages.at(-1);
    const named = /BOOK (\S+)(?: (\S+))?/.exec(last?.role === "user" ? last.content : "");
    if (named !== null && tools !== undefined) {
      const [, event_id, quote_id] = named;
      const input = { event_id, quantity: 2, ...(quote_id !== undefined && { quote_id }) };
      yield { type: "tool_call", call: { id: "call_1", name: "book_tickets", arguments: JSON.stringify(input) } };
    } else yield { type: "text", delta: "So it is." };
    yield { type: "end", reason: named === null ? "stop" : "tool_calls", usage: { input_tokens: 0, output_tokens: 0 } };
  },
};

/** Reads from these words that step-free access is needed; takes what was said before off the record where it is asked to. */
export function wheelchairReader(quote: string) {
  const need = { quote, text: "Uses a wheelchair", about: "wheelchair", category: "accessibility", need: "step_free" };
  return {
    name: "reading needs",
    read: async ({ text }: MessageToRead): Promise<Reading> => {
      const operations = text.includes(quote) ? [proposedOperationSchema.parse({ op: "add", strength: "hard", ...need })] : [];
      return { operations, off_record: text === OFF_RECORD ? "previous" : null, unreadable: 0 };
    },
  };
}
export const OFF_RECORD = "What I just said was off the record.";

/** What a guest of `namedBookings` tells of what they need. */
export const WHEELCHAIR_SAID = "I use a wheelchair since Marienbad";

/** A server, and how a guest tells their need and books against it by the button. */
export async function namedBookings() {
  let now = Date.parse("2026-03-11T10:00:00Z");
  const dir = await tempDir();
  const overrides = { model: namedBooking, reader: wheelchairReader(WHEELCHAIR_SAID), clock: { now: () => new Date(now) } };
  const world = await startWorld(dir, {}, overrides);
  const book = async (of: Client, event: string, first = WHEELCHAIR_SAID) => {
    const { session_id } = await of.say(first);
    const said = async (message: string, more = {}) =>
      (await of.say(message, { session_id, ...more })).steps.find(({ name }) => name === "book_tickets")?.output as Record<string, unknown>;
    const stopped = await said(`BOOK ${event}`);
    now += 60_000;
    expect(await said(`BOOK ${event} ${stopped.quote_id}`, { consent: stopped.token })).toMatchObject({ status: "booked" });
    return session_id;
  };
  const receipts = async (of: Client) => (await of.get<{ data: BookingReceipt[] }>("/v1/me/receipts")).body.data;
  return { dir, world, book, receipts, merging: world.application.identities };
}
