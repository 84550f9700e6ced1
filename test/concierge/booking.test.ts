import { describe, expect, test } from "vitest";
import { seatsKey } from "../../packages/concierge/src/booking-store.js";
import { Catalogue, type CatalogueEvent } from "../../packages/concierge/src/catalogue.js";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { bookTickets } from "../../packages/concierge/src/tools/book-tickets.js";
import { cancelBooking, listBookings } from "../../packages/concierge/src/tools/booking-tools.js";
import { searchEvents } from "../../packages/concierge/src/tools/catalogue-tools.js";
import type { Memory } from "../../src/domain/memory.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JsonObject } from "../../src/domain/session.js";
import { ConstraintGate, type ReadNow } from "../../src/gate/constraint-gate.js";
import { AppError } from "../../src/platform/errors.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ToolContext, ToolResult } from "../../src/ports/agent.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { constraint } from "../support/constraints.js";
import { sampleMemory } from "../support/samples.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const STEP_FREE = "marta-vale-quartet-2026-03-14";
const CELLAR = "night-shift-trio-2026-03-13";
const LETTERS = "winter-letters-2026-03-14";
const DINNER = "plum-tasting-2026-03-14";

/** One guest's turns with the booking tools, as a model could call them. */
class Desk {
  readonly bookings = new EngineBookings(new MemoryEngine());
  catalogue = new Catalogue();
  needs: readonly Memory[] = [];
  /** What else is told of companions. */
  told: readonly Memory[] = [];
  storeDown = false;
  memoryOff = false;
  /** What the guest has said comes into memory while a booking waits for it; false where it doesn't. */
  written: () => Promise<boolean> = async () => true;
  /** What the message itself says comes into memory before it books. */
  readNow: ReadNow = async () => {};
  /** The token whose button was pressed in this turn. */
  pressed: string | undefined;
  now = NOW;
  turn = 0;
  owner: Owner = ownerOf("default", "ann");
  sessionId = "session";
  #calls = 0;
  #said: string[] = [];

  private context(says: string, callId?: string): ToolContext {
    this.#calls += 1;
    return {
      owner: this.owner,
      sessionId: this.sessionId,
      turn: this.turn,
      callId: callId ?? `call_${this.#calls}`,
      userMessage: { id: `m${this.turn}`, content: says },
      earlierMessages: this.#said.slice(0, this.turn - 1),
      ...(this.pressed !== undefined && { consent: this.pressed }),
      now: this.now,
      timeZone: "UTC",
      signal: new AbortController().signal,
    };
  }

  /** A new turn in which the guest says something. */
  says(words: string) {
    this.turn += 1;
    this.#said.push(words);
    return this.again(words);
  }

  /** The same turn once more. */
  again(words: string) {
    const gate = new ConstraintGate({
      needs: {
        needs: async () => {
          if (this.memoryOff) throw new AppError("LONG_TERM_MEMORY_DISABLED");
          if (this.storeDown) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
          return this.needs;
        },
        companions: async () => this.told,
      },
      writtenBack: () => this.written(),
      readNow: (context) => this.readNow(context),
      logger: silentLogger,
    });
    const tool = bookTickets({ catalogue: this.catalogue, bookings: this.bookings, gate });
    return {
      book: async (args: Parameters<typeof tool.run>[0], callId?: string) => output(await tool.run(args, this.context(words, callId))),
      full: (args: Parameters<typeof tool.run>[0]) => tool.run(args, this.context(words)),
      cancel: async (id: string, asked?: string) =>
        output(await cancelBooking(this.bookings).run({ booking_id: id, ...(asked !== undefined && { asked }) }, this.context(words))),
      search: async (args: Parameters<ReturnType<typeof searchEvents>["run"]>[0]) =>
        output(await searchEvents({ catalogue: this.catalogue, bookings: this.bookings, gate }).run(args, this.context(words))),
      list: async () =>
        output(await listBookings({ bookings: this.bookings, catalogue: this.catalogue, gate }).run({}, this.context(words))),
    };
  }
}

/** Every seat costs ten euros more. */
class DearerCatalogue extends Catalogue {
  override byId(id: string): CatalogueEvent | null {
    const event = super.byId(id);
    return event && { ...event, sections: event.sections.map((each) => ({ ...each, priceCents: each.priceCents + 1_000 })) };
  }
}

function output(result: ToolResult): JsonObject {
  return result.output as JsonObject;
}

/** The call that a model makes when the guest says yes. */
function agreeing(quote: JsonObject, agreed: string) {
  return { event_id: String(quote.event_id), quote_id: String(quote.quote_id), agreed };
}

/** The call that a model makes when the guest says to book it anyway. */
function overriding(stopped: JsonObject, quote: string) {
  const memory_ids = (stopped.conflicts as { memory_id: string }[]).map(({ memory_id }) => memory_id);
  return {
    event_id: String(stopped.event_id),
    quote_id: String(stopped.quote_id),
    override: { token: String(stopped.token), memory_ids, quote },
  };
}

test("a search that found nothing says what it doesn't look at", async () => {
  const turn = new Desk().says("A family show?");
  expect(await turn.search({ text: "family show" })).toEqual({ found: 0, events: [], hint: expect.stringMatching(/not for themes/) });
  expect(await turn.search({ kind: "music", to: "2026-03-10" })).toMatchObject({ found: 0, hint: expect.stringMatching(/past/) });
  expect(await turn.search({ genre: "jazz", max_price_eur: 0 })).toEqual({ found: 0, events: [] });
  expect(await turn.search({ text: "quartet" })).not.toHaveProperty("hint");
});

describe("an event that is booked already", () => {
  const bookOne = async (desk: Desk) => {
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    return desk.says("Yes").book(agreeing(quote, "Yes"));
  };

  test("is told with the quote, also in another session, and a yes to that books it again", async () => {
    const desk = new Desk();
    const first = await bookOne(desk);
    desk.sessionId = "another";
    const again = await desk.says("Two seats for the quartet").book({ event_id: STEP_FREE, quantity: 2 });
    const told = `You have already booked this: 2 seats, Bar, ${String(first.reference)}.`;
    expect(again).toMatchObject({ status: "needs_confirmation", reminders: [expect.stringContaining(told)] });
    expect(await desk.bookings.list(desk.owner)).toHaveLength(1);
    expect(await desk.says("Yes, once more").book(agreeing(again, "Yes"))).toMatchObject({ status: "booked" });
    expect(await desk.bookings.list(desk.owner)).toMatchObject([{ waived: [] }, { waived: [] }]);
  });

  test("is told before the yes counts where it was booked since the quote was shown", async () => {
    const desk = new Desk();
    const waiting = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.sessionId = "another";
    await bookOne(desk);
    desk.sessionId = "session";
    desk.turn = 1;
    const told = await desk.says("Yes").book(agreeing(waiting, "Yes"));
    expect(told).toMatchObject({ status: "needs_confirmation", reminders: [expect.stringMatching(/already booked/)] });
    expect(await desk.says("Yes").book(agreeing(told, "Yes"))).toMatchObject({ status: "booked" });
  });

  test("is not told of once it is cancelled, nor to somebody else", async () => {
    const desk = new Desk();
    const first = await bookOne(desk);
    desk.owner = ownerOf("default", "bob");
    expect(await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({ reminders: [] });
    desk.owner = ownerOf("default", "ann");
    await desk.says(`Cancel ${String(first.reference)}`).cancel(String(first.booking_id), `Cancel ${String(first.reference)}`);
    expect(await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({ reminders: [] });
  });
});

describe("booking asks first", () => {
  test("the first call makes a quote and books nothing", async () => {
    const desk = new Desk();
    const said = "Yes! Book it, I confirm, go ahead";
    const quote = await desk.says(said).book({ event_id: STEP_FREE, quantity: 2, agreed: said });
    expect(quote).toMatchObject({ status: "needs_confirmation", quantity: 2, section: "Bar", total: "€44" });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test.each(["Yes, please", "tak, proszę", "はい、お願いします", "👍 ok"])(
    "words of a later turn book what was quoted, in any language: %s",
    async (words) => {
      const desk = new Desk();
      const quote = await desk.says("Two seats please").book({ event_id: STEP_FREE, quantity: 2 });
      const booked = await desk.says(words).book(agreeing(quote, words.toUpperCase()));
      expect(booked).toMatchObject({ status: "booked", quantity: 2, total_eur: 44, reference: expect.stringMatching(/^MD-[0-9A-F]{8}$/) });
      expect(await desk.bookings.list(desk.owner)).toHaveLength(1);
    },
  );

  test("the model's second call in the same turn books nothing, whatever it says", async () => {
    const desk = new Desk();
    const said = "Yes, book it right now";
    const turn = desk.says(said);
    const quote = await turn.book({ event_id: STEP_FREE, quantity: 2 });
    expect(await turn.book({ ...agreeing(quote, said), quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test.each([
    ["words that the guest has not said in this turn", "What is the weather like?", "yes, please"],
    ["words of an earlier turn", "Hm, let me see", "Two seats"],
    ["no words", "Yes, please", "…"],
    ["a part of a word", "yesterday was fine", "yes"],
  ])("%s agree to nothing", async (_, says, agreed) => {
    const desk = new Desk();
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    expect(await desk.says(says).book(agreeing(quote, agreed))).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says(says).book({ event_id: STEP_FREE, quote_id: String(quote.quote_id) })).toMatchObject({
      status: "needs_confirmation",
    });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a yes to one event does not book another, nor more seats", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const yes = desk.says("Yes");
    expect(await yes.book({ ...agreeing(quote, "Yes"), quantity: 8 })).toMatchObject({ status: "needs_confirmation", quantity: 8 });
    expect(await yes.book({ ...agreeing(quote, "Yes"), event_id: CELLAR, quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a quote that expired, or that another came after, is asked about again", async () => {
    const desk = new Desk();
    const first = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.now = new Date(NOW.getTime() + 31 * 60_000);
    expect(await desk.says("Yes").book({ ...agreeing(first, "Yes"), quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    await desk.says("And the other one?").book({ event_id: CELLAR, quantity: 2 });
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, quantity: 2, agreed: "Yes" })).toMatchObject({
      status: "needs_confirmation",
    });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a yes to a quote that counts no more shows it anew as it was, and asks the guest for nothing that they said", async () => {
    const desk = new Desk();
    const first = await desk.says("Three at a table").book({ event_id: STEP_FREE, quantity: 3, section: "Tables", companions: ["Eva"] });
    await desk.says("And the other one?").book({ event_id: CELLAR, quantity: 2 });
    const anew = await desk.says("The first one").book(agreeing(first, "The first one"));
    expect(anew).toMatchObject({ status: "needs_confirmation", quantity: 3, section: "Tables", companions: ["Eva"] });
    expect(await desk.says("Yes").book(agreeing(anew, "Yes"))).toMatchObject({ status: "booked", quantity: 3 });
  });

  test("more seats stay in the section that was quoted, unless a need is against it", async () => {
    const desk = new Desk();
    const first = await desk.says("Two in the circle").book({ event_id: LETTERS, quantity: 2, section: "Circle" });
    const yes = desk.says("Make it three");
    expect(await yes.book({ ...agreeing(first, "Make it three"), quantity: 3 })).toMatchObject({ section: "Circle", quantity: 3 });
    desk.needs = [constraint("Uses a wheelchair", "accessibility", "self", { need: "step_free" })];
    expect(await yes.book({ ...agreeing(first, "Make it three"), quantity: 4 })).toMatchObject({ section: "Stalls", quantity: 4 });
  });

  test("a yes to a price that is no longer the catalogue's is a new quote at the new one, and a yes to that books at it", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two for the quartet").book({ event_id: STEP_FREE, quantity: 2 });
    desk.catalogue = new DearerCatalogue();
    const anew = await desk.says("Yes, please").book(agreeing(quote, "Yes, please"));
    expect(anew).toMatchObject({ status: "needs_confirmation", section: quote.section, quantity: 2 });
    expect([quote.total, anew.total]).toEqual(["€44", "€64"]);
    await desk.says("Yes").book(agreeing(anew, "Yes"));
    expect(await desk.bookings.list(desk.owner)).toMatchObject([{ totalCents: 6_400 }]);
  });

  test("a quote of another guest or session can't be confirmed", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.owner = ownerOf("default", "bob");
    expect(await desk.says("Yes").book({ ...agreeing(quote, "Yes"), quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    desk.owner = ownerOf("default", "ann");
    desk.sessionId = "another";
    expect(await desk.says("Yes").book({ ...agreeing(quote, "Yes"), quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.bookings.list(ownerOf("default", "ann"))).toEqual([]);
  });

  test("a turn that runs again books once", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const first = await desk.says("Yes").book(agreeing(quote, "Yes"));
    const second = await desk.again("Yes").book(agreeing(quote, "Yes"));
    const third = await desk.again("Yes").book({ event_id: STEP_FREE });
    expect([second.booking_id, third.booking_id]).toEqual([first.booking_id, first.booking_id]);
    expect(await desk.bookings.list(desk.owner)).toHaveLength(1);
  });

  test("two more of the same are a new quote", async () => {
    const desk = new Desk();
    await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    await desk.says("Yes").book({ event_id: STEP_FREE, agreed: "Yes" });
    expect(await desk.says("Two more please").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, agreed: "Yes" })).toMatchObject({ status: "booked" });
    expect(await desk.bookings.list(desk.owner)).toHaveLength(2);
  });

  test("an event that is unknown, over, or sold out is refused", async () => {
    const desk = new Desk();
    const turn = desk.says("Two");
    await expect(turn.book({ event_id: "nothing-2026-03-14", quantity: 2 })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(turn.book({ event_id: "marta-vale-quartet-2026-03-07", quantity: 2 })).rejects.toThrow(/over/);
    await expect(turn.book({ event_id: "hearth-menu-2026-03-15", section: "Chef's counter", quantity: 9 })).rejects.toThrow(
      /seats are left/,
    );
  });
});

describe("the gate in front of it", () => {
  const need = constraint("Needs step-free access", "accessibility", "self", { need: "step_free" });

  test("chooses a section that fits, where one does", async () => {
    const desk = new Desk();
    desk.needs = [need];
    const quote = await desk.says("Two").book({ event_id: "winter-letters-2026-03-14", quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", section: "Stalls", needs_met: ["Needs step-free access"] });
  });

  test("stops, names the memory and the guest's own words, and books nothing on a mere yes", async () => {
    const desk = new Desk();
    desk.needs = [need];
    const full = await desk.says("Two for the trio").full({ event_id: CELLAR, quantity: 2 });
    expect(full.output).toMatchObject({
      status: "stopped",
      conflicts: [
        { memory_id: need.id, memory: need.text, source: { session_id: "earlier", turn: 3, quote: "Please note: needs step-free access" } },
      ],
    });
    expect(full.sources).toContainEqual({ id: need.id, title: need.text, type: "memory" });
    expect(full.elements).toMatchObject([{ type: "booking_quote" }, { type: "constraint", name: need.text }]);
    expect(await desk.says("Yes").book(agreeing(output(full), "Yes"))).toMatchObject({ status: "stopped" });
    expect(await desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("book anyway books it, for this booking alone; its record says what was passed over", async () => {
    const desk = new Desk();
    desk.needs = [need];
    const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    const booked = await desk.says("I know. Book it anyway!").book(overriding(stopped, "book it anyway"));
    expect(booked).toMatchObject({ status: "booked", overridden: [need.id] });
    expect(await desk.bookings.list(desk.owner)).toMatchObject([
      { waived: [{ memory_id: need.id, how: "override", at: NOW.toISOString() }] },
    ]);
    expect(await desk.says("Two more please").book({ event_id: CELLAR, quantity: 2 })).toMatchObject({ status: "stopped" });
  });

  test("one that waits for the guest's word stops too, is asked about, and book anyway leaves it waiting", async () => {
    const desk = new Desk();
    const waiting = { ...need, status: "review", reason: "unsure" } as const;
    desk.needs = [waiting];
    const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(stopped).toMatchObject({ status: "stopped", conflicts: [{ to_confirm: true }], ask: expect.stringMatching(/whether .* is so/) });
    expect(await desk.says("Book anyway").book(overriding(stopped, "Book anyway"))).toMatchObject({ status: "booked" });
    expect(desk.needs).toEqual([waiting]);
  });

  test("the button is consent without words, to what it stands under", async () => {
    const desk = new Desk();
    desk.needs = [need];
    const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    const named = { event_id: CELLAR, quote_id: String(stopped.quote_id) };
    desk.pressed = "0123456789abcdef";
    expect(await desk.says("Book anyway").book(named)).toMatchObject({ status: "stopped" });
    desk.pressed = String(stopped.token);
    expect(await desk.says("Book anyway").book(named)).toMatchObject({ status: "booked" });
  });

  test("the button under a quote books just what it showed", async () => {
    const desk = new Desk();
    const tokenIn = async (full: Promise<ToolResult>) => {
      const [card] = (await full).elements ?? [];
      return JSON.parse(card?.content ?? "{}") as { token: string; quote_id: string };
    };
    const first = await tokenIn(desk.says("Two for the trio").full({ event_id: CELLAR, quantity: 2 }));
    const second = await tokenIn(desk.says("Make it three").full({ event_id: CELLAR, quantity: 3 }));
    const named = { event_id: CELLAR, quote_id: second.quote_id };
    desk.pressed = first.token;
    expect(await desk.says("Go").book(named)).toMatchObject({ status: "needs_confirmation", quantity: 3 });
    desk.pressed = second.token;
    expect(await desk.says("Go").book(named)).toMatchObject({ status: "booked", quantity: 3 });
  });

  describe("consent", () => {
    type Change = (call: ReturnType<typeof overriding>, desk: Desk) => Parameters<ReturnType<Desk["says"]>["book"]>[0];
    const other = constraint("Needs a hearing loop", "accessibility", "self", { need: "hearing_loop" });
    const dog = constraint("Comes with a guide dog", "accessibility", "self", { need: "assistance_dog" });
    const TABLE: readonly (readonly [string, Change, "booked" | "stopped"])[] = [
      ["the token and words of this message", (call) => call, "booked"],
      [
        "words without case and punctuation",
        (call) => ({ ...call, override: { ...call.override, quote: "fine book it ANYWAY" } }),
        "booked",
      ],
      ["words that the guest has not said", (call) => ({ ...call, override: { ...call.override, quote: "I insist" } }), "stopped"],
      ["words of an earlier message", (call) => ({ ...call, override: { ...call.override, quote: "Two for the trio" } }), "stopped"],
      ["no words", (call) => ({ ...call, override: { ...call.override, quote: "!" } }), "stopped"],
      ["no token", ({ event_id, quote_id }) => ({ event_id, quote_id }), "stopped"],
      ["a yes alone", ({ event_id, quote_id }) => ({ event_id, quote_id, agreed: "Fine" }), "stopped"],
      ["another token", (call) => ({ ...call, override: { ...call.override, token: "0123456789abcdef" } }), "stopped"],
      ["an empty token", (call) => ({ ...call, override: { ...call.override, token: "" } }), "stopped"],
      ["other memories", (call) => ({ ...call, override: { ...call.override, memory_ids: [other.id] } }), "stopped"],
      ["no memories", (call) => ({ ...call, override: { ...call.override, memory_ids: [] } }), "stopped"],
      ["another event", (call) => ({ ...call, event_id: "blue-chimney-2026-03-13", quantity: 2 }), "stopped"],
      ["more seats", (call) => ({ ...call, quantity: 3 }), "stopped"],
      ["another section", (call) => ({ ...call, quantity: 2, section: "Tables" }), "stopped"],
      [
        "a need that came since",
        (call, desk) => {
          desk.needs = [need, other];
          return call;
        },
        "stopped",
      ],
      [
        "another need in its place",
        (call, desk) => {
          desk.needs = [other];
          return call;
        },
        "stopped",
      ],
      [
        "a need that is met since",
        (call, desk) => {
          desk.needs = [need, dog];
          return call;
        },
        "booked",
      ],
      [
        "a need that holds no longer",
        (call, desk) => {
          desk.needs = [];
          return call;
        },
        "booked",
      ],
      [
        "a need that this very message tells",
        (call, desk) => {
          desk.readNow = async () => {
            desk.needs = [need, other];
          };
          return call;
        },
        "stopped",
      ],
    ];
    test.each(TABLE)("%s", async (_, change, status) => {
      const desk = new Desk();
      desk.needs = [need];
      const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      const turn = desk.says("Fine, book it anyway.");
      expect(await turn.book(change(overriding(stopped, "book it anyway"), desk))).toMatchObject({ status });
      expect(await desk.bookings.list(desk.owner)).toHaveLength(status === "booked" ? 1 : 0);
    });

    test("in the very turn of the request it counts for nothing: the guest has not been told yet", async () => {
      const desk = new Desk();
      desk.needs = [need];
      const turn = desk.says("Book it anyway, whatever");
      const stopped = await turn.book({ event_id: CELLAR, quantity: 2 });
      expect(await turn.book(overriding(stopped, "Book it anyway"))).toMatchObject({ status: "stopped" });
    });

    test.each<[RegExp, Change]>([
      [/agreed/, ({ event_id, quote_id }) => ({ event_id, quote_id, agreed: "book it anyway" })],
      [/token/, (call) => ({ ...call, override: { ...call.override, token: "0123456789abcdef" } })],
      [/word for word/, (call) => ({ ...call, override: { ...call.override, quote: "yes, book it anyway" } })],
      [/memory_ids/, (call) => ({ ...call, override: { ...call.override, memory_ids: [] } })],
    ])("that the model got wrong is told so (%s), and it can mend it without asking again", async (why, change) => {
      const desk = new Desk();
      desk.needs = [need];
      const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      const turn = desk.says("Fine, book it anyway.");
      const call = overriding(stopped, "book it anyway");
      expect(await turn.book(change(call, desk))).toMatchObject({ status: "stopped", refused: expect.stringMatching(why) });
      expect(await turn.book(call)).toMatchObject({ status: "booked" });
    });

    test("that was refused for a need that came since is asked for anew", async () => {
      const desk = new Desk();
      desk.needs = [need];
      const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      desk.needs = [need, other];
      const turn = desk.says("Fine, book it anyway.");
      const more = await turn.book(overriding(stopped, "book it anyway"));
      expect(await turn.book(overriding(more, "book it anyway"))).toMatchObject({
        status: "stopped",
        refused: expect.stringMatching(/Tell the guest first/),
      });
    });

    test("isn't needed once nothing stands against it: what the guest denied, and a yes", async () => {
      const desk = new Desk();
      desk.needs = [need];
      const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      desk.needs = [];
      expect(await desk.says("I don't need that any more, book it").book(agreeing(stopped, "book it"))).toMatchObject({ status: "booked" });
    });

    test("of another session counts for nothing", async () => {
      const desk = new Desk();
      desk.needs = [need];
      const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      desk.sessionId = "another";
      expect(await desk.says("Book it anyway").book({ ...overriding(stopped, "Book it anyway"), quantity: 2 })).toMatchObject({
        status: "stopped",
      });
    });
  });

  test("a need that came up between quote and yes still stops", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.needs = [need];
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "stopped" });
  });

  test("a need that the yes itself tells stops: yes, and I'm in a wheelchair now", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.readNow = async ({ userMessage }) => {
      if (userMessage.content.includes("wheelchair")) desk.needs = [need];
    };
    expect(await desk.says("Yes, book it, and I'm in a wheelchair now").book(agreeing(quote, "Yes, book it"))).toMatchObject({
      status: "stopped",
      conflicts: [{ memory_id: need.id }],
    });
  });

  test("what the catalogue can't answer is mentioned once, and its waiver remembered for that booking", async () => {
    const desk = new Desk();
    const pacemaker = constraint("Has a pacemaker", "health", "self", { need: "other" });
    desk.needs = [pacemaker];
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", reminders: [expect.stringMatching(/^Has a pacemaker\. .*not stated/)] });
    const again = await desk.says("Is there a lift?").book({ event_id: STEP_FREE, quote_id: String(quote.quote_id) });
    expect(again).toMatchObject({ status: "needs_confirmation", reminders: [] });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "booked", overridden: [] });
    expect(await desk.bookings.list(desk.owner)).toMatchObject([{ waived: [{ memory_id: pacemaker.id, how: "mentioned" }] }]);
    // Another booking is another waiver.
    expect(await desk.says("Two more").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({
      reminders: [expect.any(String), expect.stringMatching(/already booked/)],
    });
  });

  test("what comes up with the yes and can't be answered is mentioned before it books", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.needs = [constraint("Has a pacemaker", "health", "self", { need: "other" })];
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({
      status: "needs_confirmation",
      reminders: [expect.stringMatching(/pacemaker/)],
    });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "booked" });
  });

  test("what came from brought-along text stops nothing and is mentioned once", async () => {
    const desk = new Desk();
    desk.needs = [{ ...need, status: "review", reason: "brought_along" }];
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", reminders: [expect.stringMatching(/not step-free.*not confirmed/)] });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "booked" });
  });

  test("a need whose date has passed stops nothing", async () => {
    const desk = new Desk();
    desk.needs = [{ ...need, valid_until: "2026-03-10T00:00:00Z" }];
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "booked", overridden: [] });
  });
});

describe("whoever comes along", () => {
  const wheelchair = constraint("Uses a wheelchair", "accessibility", "companion:mother", { need: "step_free" });

  test("dinner with Jon, then book it for two: his need counts", async () => {
    const desk = new Desk();
    desk.needs = [constraint("Is vegetarian", "dietary", "companion:husband", { need: "no_nuts", entities: ["Jon"] })];
    desk.says("dinner with Jon on Saturday");
    expect(await desk.says("book it for two").book({ event_id: DINNER, quantity: 2 })).toMatchObject({
      status: "stopped",
      companions: ["husband"],
      conflicts: [{ who: "husband" }],
    });
  });

  describe("a companion whose name was told", () => {
    const named = sampleMemory({
      text: "Husband's name is Karl",
      category: "companions",
      aspect: "name",
      subject: "companion:husband",
      entities: ["Karl"],
      source: null,
    });
    const deskOf = () => {
      const desk = new Desk();
      desk.needs = [constraint("Is allergic to nuts", "dietary", "companion:husband", { need: "no_nuts" })];
      desk.told = [named];
      return desk;
    };

    test("is stopped for by his name, and listed once where he has two", async () => {
      const stopped = await deskOf()
        .says("Table for two with Karl")
        .book({ event_id: DINNER, quantity: 2, companions: ["Karl"] });
      expect(stopped).toMatchObject({ status: "stopped", companions: ["Karl"], conflicts: [{ who: "husband" }] });
      const both = await deskOf()
        .says("For two")
        .book({ event_id: DINNER, quantity: 2, companions: ["Ehemann", "Karl"] });
      expect(both).toMatchObject({ status: "stopped", companions: ["Ehemann"] });
    });

    test("has their needs marked in a list by either name, where they are spoken of", async () => {
      const marked = async (words: string) => {
        const { events } = (await deskOf().says(words).search({ kind: "dining", from: "2026-03-14", to: "2026-03-14" })) as {
          events: { event_id: string; breaks?: string[] }[];
        };
        return events.find(({ event_id }) => event_id === DINNER)?.breaks;
      };
      expect(await marked("Dinner on Saturday?")).toBeUndefined();
      for (const words of ["Dinner with Karl on Saturday?", "Dinner with my husband on Saturday?"])
        expect(await marked(words)).toEqual(["not without nuts for husband"]);
    });

    test("is out of the party by either name, and back by the other", async () => {
      const desk = deskOf();
      const stopped = await desk.says("For two with Karl").book({ event_id: DINNER, quantity: 2, companions: ["Karl"] });
      const without = await desk
        .says("My husband can't come")
        .book({ ...agreeing(stopped, "My husband can't come"), not_coming: ["husband"] });
      expect(without).toMatchObject({ status: "needs_confirmation", companions: [] });
      const back = await desk.says("Karl comes after all").book({ ...agreeing(without, "Karl comes after all"), companions: ["Karl"] });
      expect(back).toMatchObject({ status: "stopped", companions: ["Karl"] });
    });
  });

  test("a companion named when the seats were asked for counts when they are booked", async () => {
    const desk = new Desk();
    desk.needs = [wheelchair];
    const stopped = await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2, companions: ["my mum"] });
    expect(stopped).toMatchObject({ status: "stopped", conflicts: [{ who: "mother" }] });
    expect(await desk.says("Yes").book(agreeing(stopped, "Yes"))).toMatchObject({ status: "stopped" });
  });

  test.each([
    ["a new number of seats", { event_id: CELLAR, quantity: 3 }],
    ["a new number of seats, with another companion", { event_id: CELLAR, quantity: 4, companions: ["Sam"] }],
    ["another section", { event_id: CELLAR, quantity: 2, section: "Tables" }],
  ])("%s leaves the companions in the party", async (_, change) => {
    const desk = new Desk();
    desk.needs = [wheelchair];
    await desk.says("Two, we are two").book({ event_id: CELLAR, quantity: 2, companions: ["mother"] });
    const changed = await desk.says("Like this then").book(change);
    expect(changed).toMatchObject({ status: "stopped", companions: expect.arrayContaining(["mother"]) });
  });

  test("a companion who is named with the yes counts in every later turn", async () => {
    const desk = new Desk();
    desk.needs = [wheelchair];
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(await desk.says("Yes, she is coming too").book({ ...agreeing(quote, "Yes"), companions: ["mother"] })).toMatchObject({
      status: "stopped",
    });
    for (let turns = 0; turns < 2; turns += 1)
      expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "stopped" });
  });

  test("whom the guest takes out no longer counts, and what is left is asked for a yes", async () => {
    const desk = new Desk();
    desk.needs = [wheelchair];
    const stopped = await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2, companions: ["mother"] });
    const without = await desk.says("My mother isn't coming, book it").book({ ...agreeing(stopped, "book it"), not_coming: ["my mother"] });
    expect(without).toMatchObject({ status: "needs_confirmation", companions: [] });
    expect(await desk.says("Yes").book(agreeing(stopped, "Yes"))).toMatchObject({ status: "booked" });
  });

  test("of whom nobody said whether they come, only a reminder is given, once", async () => {
    const desk = new Desk();
    desk.needs = [wheelchair];
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", reminders: [expect.stringMatching(/^If mother comes along/)] });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "booked" });
    expect(await desk.bookings.list(desk.owner)).toMatchObject([{ waived: [] }]);
  });
});

describe("when needs can't be read", () => {
  const need = constraint("Needs step-free access", "accessibility", "self", { need: "step_free" });

  test("it asks, and books on the guest's plain answer and the token", async () => {
    const desk = new Desk();
    desk.storeDown = true;
    const asked = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(asked).toMatchObject({ status: "stopped", reason: expect.stringMatching(/can't be read/), unchecked: true });
    expect(await desk.says("Yes").book(agreeing(asked, "Yes"))).toMatchObject({ status: "stopped" });
    expect(await desk.says("No restrictions").book(overriding(asked, "No restrictions"))).toMatchObject({ status: "booked" });
    expect(await desk.bookings.list(desk.owner)).toMatchObject([{ waived: [{ memory_id: null, how: "override" }] }]);
  });

  test("with long-term memory switched off it asks as well, and says why", async () => {
    const desk = new Desk();
    desk.memoryOff = true;
    const asked = await desk.says("I use a wheelchair. Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(asked).toMatchObject({ status: "stopped", reason: expect.stringMatching(/switched off/), unchecked: true });
    expect(await desk.says("Yes").book(agreeing(asked, "Yes"))).toMatchObject({ status: "stopped" });
    expect(await desk.says("Nothing to mind").book(overriding(asked, "Nothing to mind"))).toMatchObject({ status: "booked" });
  });

  test("a store that comes back in between is heard", async () => {
    const desk = new Desk();
    desk.storeDown = true;
    const asked = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.storeDown = false;
    desk.needs = [need];
    expect(await desk.says("Nothing special").book(overriding(asked, "Nothing special"))).toMatchObject({
      status: "stopped",
      conflicts: [{ memory_id: need.id }],
    });
  });

  test("a quote doesn't wait for what the guest has said to be in memory; a booking does, and is held against it", async () => {
    const desk = new Desk();
    desk.written = async () => {
      desk.needs = [need];
      return true;
    };
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "stopped", conflicts: [{ memory_id: need.id }] });
  });

  test("where something that the guest said does not get into memory, it asks, as with the store down", async () => {
    const desk = new Desk();
    desk.written = async () => false;
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    const asked = await desk.says("Yes").book(agreeing(quote, "Yes"));
    expect(asked).toMatchObject({ status: "stopped", reason: expect.stringMatching(/can't be read/) });
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "stopped" });
    expect(await desk.says("There is nothing to mind").book(overriding(asked, "nothing to mind"))).toMatchObject({ status: "booked" });
  });

  test("what is known stops it all the same, and one consent is to all that was shown", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.written = async () => false;
    desk.needs = [need];
    const stopped = await desk.says("Yes").book(agreeing(quote, "Yes"));
    expect(stopped).toMatchObject({ status: "stopped", conflicts: [{ memory_id: need.id }] });
    expect(stopped).toMatchObject({ unchecked: true });
    expect(await desk.says("Book it anyway").book(overriding(stopped, "Book it anyway"))).toMatchObject({
      status: "booked",
      overridden: [need.id],
    });
    expect((await desk.bookings.list(desk.owner))[0]?.waived.map(({ memory_id }) => memory_id)).toEqual([need.id, null]);
  });

  test("a store that goes down between quote and yes is not passed over", async () => {
    const desk = new Desk();
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.storeDown = true;
    expect(await desk.says("Yes").book(agreeing(quote, "Yes"))).toMatchObject({ status: "stopped" });
  });
});

describe("cancelling", () => {
  async function withBooking(): Promise<{ desk: Desk; id: string }> {
    const desk = new Desk();
    await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const { booking_id } = await desk.says("Yes").book({ event_id: STEP_FREE, agreed: "Yes" });
    return { desk, id: String(booking_id) };
  }

  test("needs the guest's own words of this turn", async () => {
    const { desk, id } = await withBooking();
    expect(await desk.says("What a nice evening that will be").cancel(id)).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("What a nice evening").cancel(id, "cancel it")).toMatchObject({ status: "needs_confirmation" });
    expect((await desk.bookings.get(desk.owner, id)).status).toBe("confirmed");
    expect(await desk.says("Yes").cancel(id, "yes")).toMatchObject({ status: "cancelled" });
  });

  test.each(["Cancel the brunch", "Cancel my gym membership, is that you?", "Cancel my booking", "Yes, cancel it"])(
    "of what was neither named nor asked about is asked about first, whatever the model makes of it: %s",
    async (words) => {
      const { desk, id } = await withBooking();
      for (const asked of [words, words]) expect(await desk.again(words).cancel(id, asked)).toMatchObject({ status: "needs_confirmation" });
      expect(await desk.says("Yes").cancel(id, "Yes")).toMatchObject({ status: "cancelled" });
    },
  );

  test("an answer is one for a few turns, in the same conversation", async () => {
    const { desk, id } = await withBooking();
    await desk.says("Cancel it").cancel(id, "Cancel it");
    for (const words of ["Hm.", "What is on tomorrow?", "And on Friday?"]) desk.says(words);
    expect(await desk.says("Yes").cancel(id, "Yes")).toMatchObject({ status: "needs_confirmation" });
    desk.sessionId = "another";
    expect(await desk.says("Yes").cancel(id, "Yes")).toMatchObject({ status: "needs_confirmation" });
  });

  test("a title that two bookings have names neither; a reference does", async () => {
    const { desk, id } = await withBooking();
    const quote = await desk.says("Two more").book({ event_id: STEP_FREE, quantity: 2 });
    const { reference } = await desk.says("Yes").book({ event_id: STEP_FREE, quote_id: String(quote.quote_id), agreed: "Yes" });
    const { title } = await desk.bookings.get(desk.owner, id);
    expect(await desk.says(`Cancel ${title}`).cancel(id, `Cancel ${title}`)).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("Hm.").cancel(String(reference))).toMatchObject({ status: "needs_confirmation" });
    const named = desk.says(`Cancel ${String(reference)}`);
    expect(await named.cancel(String(reference), "Cancel")).toMatchObject({ status: "cancelled" });
    expect(await desk.says(`Cancel ${title}`).cancel(id, `Cancel ${title}`)).toMatchObject({ status: "cancelled" });
  });

  test("takes a plain request at its word, and gives the seats back", async () => {
    const { desk, id } = await withBooking();
    expect((await desk.bookings.sold([STEP_FREE])).get(seatsKey(STEP_FREE, "Bar")) ?? 0).toBe(2);
    const { reference } = await desk.bookings.get(desk.owner, id);
    expect(await desk.says(`Please cancel my booking ${reference}.`).cancel(id, "cancel my booking")).toMatchObject({
      status: "cancelled",
    });
    expect((await desk.bookings.sold([STEP_FREE])).get(seatsKey(STEP_FREE, "Bar")) ?? 0).toBe(0);
    expect(await desk.says("Show me my bookings").list()).toEqual({ bookings: [] });
  });

  test("a booking of somebody else is not there", async () => {
    const { desk, id } = await withBooking();
    desk.owner = ownerOf("default", "bob");
    await expect(desk.says("Cancel it").cancel(id, "Cancel it")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await desk.says("My bookings").list()).toEqual({ bookings: [] });
  });
});
