import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/session.js";
import type { ChatModel, ModelEvent, ModelRequest } from "../../src/ports/agent.js";
import { type MessageToRead, proposedOperationSchema, type Reading } from "../../src/ports/extraction.js";
import { type Client, startWorld, tempDir } from "./world.js";

const START = Date.parse("2026-03-11T10:00:00Z");
const CELLAR = "night-shift-trio-2026-03-13";
const OTHER_CELLAR = "blue-chimney-2026-03-13";

/** Books what the message names as `event` or `event quote`, and otherwise only answers. */
const booking: ChatModel = {
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

const reader = {
  name: "reading needs",
  read: async ({ text }: MessageToRead): Promise<Reading> => {
    const need = {
      quote: "I use a wheelchair",
      text: "Uses a wheelchair",
      about: "wheelchair",
      category: "accessibility",
      need: "step_free",
    };
    const operations = text.includes(need.quote) ? [proposedOperationSchema.parse({ op: "add", strength: "hard", ...need })] : [];
    return { operations, off_record: null, unreadable: 0 };
  },
};

/** A guest with a need, and what the booking tool said in the last turn of their session. */
async function guestOf(client: Client) {
  const { session_id } = await client.say("I use a wheelchair");
  const books = async (what: string, more: JsonObject = {}): Promise<JsonObject> => {
    const { steps } = await client.say(`BOOK ${what}`, { session_id, ...more });
    return steps.find(({ name }) => name === "book_tickets")?.output as JsonObject;
  };
  return {
    books,
    presses: (stopped: JsonObject, consent: unknown) => books(`${CELLAR} ${stopped.quote_id}`, { consent: String(consent) }),
  };
}

test("a booking against what must hold is stopped with a token; the button's request, with that token and no other, books it", async () => {
  let now = START;
  const world = await startWorld(await tempDir(), {}, { model: booking, reader, clock: { now: () => new Date(now) } });
  const foreign = await (await guestOf(world.as("bob"))).books(CELLAR);
  const ada = await guestOf(world.as("ada"));
  const otherEvent = await ada.books(OTHER_CELLAR);
  const stopped = await ada.books(CELLAR);
  for (const each of [foreign, otherEvent, stopped])
    expect(each).toMatchObject({ status: "stopped", token: expect.stringMatching(/^\w{16}$/) });
  expect(new Set([foreign.token, otherEvent.token, stopped.token]).size).toBe(3);

  for (const wrong of ["0123456789abcdef", foreign.token, otherEvent.token, "{}"])
    expect(await ada.presses(stopped, wrong)).toMatchObject({ status: "stopped", token: stopped.token });
  const shown = await ada.books(`${CELLAR} ${stopped.quote_id}`);
  expect(shown).toMatchObject({ status: "stopped" });

  expect(await ada.presses(shown, stopped.token)).toMatchObject({ status: "booked", overridden: [expect.any(String)] });

  const dora = await guestOf(world.as("dora"));
  const expired = await dora.books(CELLAR);
  now += 24 * 3_600_000;
  expect(await dora.books(`${CELLAR} ${expired.quote_id}`, { consent: String(expired.token) })).toMatchObject({ status: "stopped" });
});

test("a consent that can't be a token is refused at the door", async () => {
  const world = await startWorld(await tempDir());
  for (const consent of ["", "x".repeat(65), 7, { token: "a" }]) {
    const { status, body } = await world.as("ada").post("/v1/chat", { message: "Hello", consent });
    expect([status, body.code]).toEqual([400, "INVALID_REQUEST"]);
  }
});
