import { describe, expect, test } from "vitest";
import type { ToolContext, ToolResult } from "../../src/agent.js";
import { Bookings } from "../../src/concierge/bookings.js";
import { Catalogue } from "../../src/concierge/catalogue.js";
import { ConstraintGate } from "../../src/concierge/constraint-gate.js";
import { bookTickets } from "../../src/concierge/tools/book-tickets.js";
import { cancelBooking, listBookings } from "../../src/concierge/tools/booking-tools.js";
import { AppError } from "../../src/errors.js";
import type { Memory } from "../../src/long-term.js";
import { type Owner, ownerOf } from "../../src/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { JsonObject } from "../../src/session.js";
import { constraint } from "../support/constraints.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const STEP_FREE = "marta-vale-quartet-2026-03-14";
const CELLAR = "night-shift-trio-2026-03-13";

/** One guest's turns with the booking tools, as a model could call them. */
class Desk {
  readonly bookings = Bookings.open(":memory:");
  readonly catalogue = new Catalogue();
  constraints: readonly Memory[] = [];
  storeDown = false;
  /** What the guest has said comes into memory while a booking waits for it; false where it doesn't. */
  written: () => Promise<boolean> = async () => true;
  now = NOW;
  turn = 0;
  owner: Owner = ownerOf("default", "ann");
  sessionId = "session";
  #calls = 0;

  private context(says: string, callId?: string): ToolContext {
    this.#calls += 1;
    return {
      owner: this.owner,
      sessionId: this.sessionId,
      turn: this.turn,
      callId: callId ?? `call_${this.#calls}`,
      userMessage: { id: `m${this.turn}`, content: says },
      now: this.now,
      timeZone: "UTC",
      signal: new AbortController().signal,
    };
  }

  /** A new turn in which the guest says something. */
  says(words: string) {
    this.turn += 1;
    return this.again(words);
  }

  /** The same turn once more. */
  again(words: string) {
    const gate = new ConstraintGate({
      longTerm: {
        constraints: async () => {
          if (this.storeDown) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
          return this.constraints;
        },
      },
      writtenBack: () => this.written(),
      logger: silentLogger,
    });
    const tool = bookTickets({ catalogue: this.catalogue, bookings: this.bookings, gate });
    return {
      book: async (args: Parameters<typeof tool.run>[0], callId?: string) => output(await tool.run(args, this.context(words, callId))),
      full: (args: Parameters<typeof tool.run>[0]) => tool.run(args, this.context(words)),
      cancel: async (id: string) => output(await cancelBooking(this.bookings).run({ booking_id: id }, this.context(words))),
      list: async () => output(await listBookings(this.bookings).run({}, this.context(words))),
    };
  }
}

function output(result: ToolResult): JsonObject {
  return result.output as JsonObject;
}

describe("booking asks first", () => {
  test("the first call makes a quote and books nothing", async () => {
    const desk = new Desk();
    const quote = await desk.says("Yes! Book it, I confirm, go ahead").book({ event_id: STEP_FREE, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", quantity: 2, section: "Bar", total: "€44" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a yes of the guest in a later turn books what was quoted", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats please").book({ event_id: STEP_FREE, quantity: 2 });
    const booked = await desk.says("Yes, please").book({ event_id: STEP_FREE, quote_id: String(quote_id) });
    expect(booked).toMatchObject({ status: "booked", quantity: 2, total_eur: 44, reference: expect.stringMatching(/^MD-[0-9A-F]{8}$/) });
    expect(desk.bookings.list(desk.owner)).toHaveLength(1);
  });

  test("a mere yes is about the question before it: after another turn the quote is shown again, and an order in words books it", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats please").book({ event_id: STEP_FREE, quantity: 2 });
    const confirm = (words: string) => desk.says(words).book({ event_id: STEP_FREE, quote_id: String(quote_id) });
    desk.says("No thanks. Is there anything else?");
    expect(await confirm("Yes")).toMatchObject({ status: "needs_confirmation", quote_id });
    expect(await confirm("Yes")).toMatchObject({ status: "booked" });

    const { quote_id: other } = await desk.says("Two more seats please").book({ event_id: STEP_FREE, quantity: 2 });
    desk.says("Is it near the station?");
    expect(await desk.says("Good, book it.").book({ event_id: STEP_FREE, quote_id: String(other) })).toMatchObject({ status: "booked" });
  });

  test("the model's second call in the same turn books nothing, whatever it says", async () => {
    const desk = new Desk();
    const turn = desk.says("Yes, book it right now");
    const { quote_id } = await turn.book({ event_id: STEP_FREE, quantity: 2 });
    expect(await turn.book({ event_id: STEP_FREE, quote_id: String(quote_id), quantity: 2 })).toMatchObject({
      status: "needs_confirmation",
    });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test.each([
    "What is the weather like?",
    "no",
    "Not yet",
    "yes but only if it is cheaper",
    "Yes, and I use a wheelchair.",
    "Yes please. My wife is allergic to nuts.",
    "Perfect, book it. She can't do stairs.",
    "maybe",
    "Yes, three please",
    "is it yes or no?",
    "don't book it",
    "Do you sell programmes?",
    "",
  ])("%j does not agree", async (words) => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    expect(await desk.says(words).book({ event_id: STEP_FREE, quote_id: String(quote_id) })).toMatchObject({
      status: "needs_confirmation",
    });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test.each([
    "yes",
    "Ja, gerne",
    "Oui, d'accord",
    "sí, adelante",
    "sure, go ahead",
    "Yes, can you book it?",
    "OK, two tickets, book them",
    "that works for us",
  ])("%j agrees", async (words) => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    expect(await desk.says(words).book({ event_id: STEP_FREE, quote_id: String(quote_id) })).toMatchObject({ status: "booked" });
  });

  test("a yes to one event does not book another, nor more seats", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const yes = desk.says("Yes");
    expect(await yes.book({ event_id: STEP_FREE, quote_id: String(quote_id), quantity: 8 })).toMatchObject({
      status: "needs_confirmation",
      quantity: 8,
    });
    expect(await yes.book({ event_id: CELLAR, quote_id: String(quote_id), quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a quote that expired, or that another came after, is asked about again", async () => {
    const desk = new Desk();
    const first = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.now = new Date(NOW.getTime() + 31 * 60_000);
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, quantity: 2, quote_id: String(first.quote_id) })).toMatchObject({
      status: "needs_confirmation",
    });
    await desk.says("And the other one?").book({ event_id: CELLAR, quantity: 2 });
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a quote of another guest or session can't be confirmed", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    desk.owner = ownerOf("default", "bob");
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, quantity: 2, quote_id: String(quote_id) })).toMatchObject({
      status: "needs_confirmation",
    });
    desk.owner = ownerOf("default", "ann");
    desk.sessionId = "another";
    expect(await desk.says("Yes").book({ event_id: STEP_FREE, quantity: 2, quote_id: String(quote_id) })).toMatchObject({
      status: "needs_confirmation",
    });
    expect(desk.bookings.list(ownerOf("default", "ann"))).toEqual([]);
  });

  test("a turn that runs again books once", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const first = await desk.says("Yes").book({ event_id: STEP_FREE, quote_id: String(quote_id) });
    const second = await desk.again("Yes").book({ event_id: STEP_FREE, quote_id: String(quote_id) });
    const third = await desk.again("Yes").book({ event_id: STEP_FREE });
    expect([second.booking_id, third.booking_id]).toEqual([first.booking_id, first.booking_id]);
    expect(desk.bookings.list(desk.owner)).toHaveLength(1);
  });

  test("two more of the same are a new quote", async () => {
    const desk = new Desk();
    await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    await desk.says("Yes").book({ event_id: STEP_FREE });
    expect(await desk.says("Two more please").book({ event_id: STEP_FREE, quantity: 2 })).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("Yes").book({ event_id: STEP_FREE })).toMatchObject({ status: "booked" });
    expect(desk.bookings.list(desk.owner)).toHaveLength(2);
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

describe("the constraint gate in front of it", () => {
  const need = constraint("Needs step-free access", "accessibility");

  test("chooses a section that fits, where one does", async () => {
    const desk = new Desk();
    desk.constraints = [need];
    const quote = await desk.says("Two").book({ event_id: "winter-letters-2026-03-14", quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation", section: "Stalls", needs_met: ["Needs step-free access"] });
  });

  test("stops, names the memory and the guest's own words, and books nothing on a mere yes", async () => {
    const desk = new Desk();
    desk.constraints = [need];
    const full = await desk.says("Two for the trio").full({ event_id: CELLAR, quantity: 2 });
    expect(full.output).toMatchObject({
      status: "stopped",
      conflicts: [
        { memory_id: need.id, memory: need.text, source: { session_id: "earlier", turn: 3, quote: "Please note: needs step-free access" } },
      ],
    });
    expect(full.sources).toContainEqual({ id: need.id, title: need.text, type: "memory" });
    expect(full.elements).toMatchObject([{ type: "constraint", name: need.text }]);
    const { quote_id } = output(full);
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "stopped" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test.each(["Book it anyway", "I know, book it all the same", "that's fine, I'll manage", "Buch es trotzdem"])(
    "%j overrides for this booking alone",
    async (words) => {
      const desk = new Desk();
      desk.constraints = [need];
      const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      const booked = await desk.says(words).book({ event_id: CELLAR, quote_id: String(quote_id) });
      expect(booked).toMatchObject({ status: "booked", overridden: [need.id] });
      expect(await desk.says("Two more please").book({ event_id: CELLAR, quantity: 2 })).toMatchObject({ status: "stopped" });
    },
  );

  test.each([
    "Never mind that, show me something else.",
    "We'll manage to find something else, thanks.",
    "I accept that it isn't possible.",
    "No nothing, stop",
  ])("%j books nothing, neither against a constraint nor with the store down", async (words) => {
    const desk = new Desk();
    desk.constraints = [need];
    const stopped = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(await desk.says(words).book({ event_id: CELLAR, quote_id: String(stopped.quote_id) })).toMatchObject({ status: "stopped" });
    desk.storeDown = true;
    const asked = await desk.says("And this one, for three?").book({ event_id: STEP_FREE, quantity: 3 });
    expect(await desk.says(words).book({ event_id: STEP_FREE, quote_id: String(asked.quote_id) })).toMatchObject({ status: "stopped" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("an override in the very turn of the request counts for nothing: the guest has not been told yet", async () => {
    const desk = new Desk();
    desk.constraints = [need];
    const turn = desk.says("Book it anyway, whatever");
    const { quote_id } = await turn.book({ event_id: CELLAR, quantity: 2 });
    expect(await turn.book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "stopped" });
  });

  test("hesitation and questions are no override", async () => {
    for (const words of ["Don't book it anyway", "What if I book it anyway?", "ok", "hm"]) {
      const desk = new Desk();
      desk.constraints = [need];
      const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      expect(await desk.says(words).book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "stopped" });
    }
  });

  test("a constraint that came up between quote and yes still stops", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.constraints = [need];
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "stopped" });
  });

  test("a companion named when the seats were asked for counts when they are booked", async () => {
    const desk = new Desk();
    desk.constraints = [constraint("Uses a wheelchair", "accessibility", "companion:mother")];
    const stopped = await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2 });
    expect(stopped).toMatchObject({ status: "stopped", companions: ["mother"], conflicts: [{ who: "mother" }] });
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(stopped.quote_id) })).toMatchObject({ status: "stopped" });
  });

  test.each([
    ["a new number of seats", "Make it three", { event_id: CELLAR, quantity: 3 }],
    [
      "a new number of seats, with another companion",
      "Make it four, Sam comes too",
      { event_id: CELLAR, quantity: 4, companions: ["Sam"] },
    ],
    ["another section", "In the tables then", { event_id: CELLAR, quantity: 2, section: "Tables" }],
  ])("%s leaves the companions in the party", async (_, words, change) => {
    const desk = new Desk();
    desk.constraints = [constraint("Uses a wheelchair", "accessibility", "companion:mother")];
    await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2 });
    const changed = await desk.says(words).book(change);
    expect(changed).toMatchObject({ status: "stopped", companions: expect.arrayContaining(["mother"]) });
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(changed.quote_id) })).toMatchObject({ status: "stopped" });
    expect(desk.bookings.list(desk.owner)).toEqual([]);
  });

  test("a companion who is named with the yes, by the guest or by the call, counts in every later turn", async () => {
    for (const more of [{ says: "Yes, and my mother is coming" }, { says: "Yes, she is coming too", companions: ["mother"] }]) {
      const desk = new Desk();
      desk.constraints = [constraint("Uses a wheelchair", "accessibility", "companion:mother")];
      const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
      const quote = { event_id: CELLAR, quote_id: String(quote_id) };
      const { says, ...named } = more;
      expect(await desk.says(says).book({ ...quote, ...named })).toMatchObject({ status: "stopped" });
      for (let turns = 0; turns < 2; turns += 1) expect(await desk.says("Yes").book(quote)).toMatchObject({ status: "stopped" });
    }
  });

  test("a companion who was named while the store was down counts when it is back", async () => {
    const desk = new Desk();
    desk.storeDown = true;
    const asked = await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2 });
    desk.storeDown = false;
    desk.constraints = [constraint("Uses a wheelchair", "accessibility", "companion:mother")];
    expect(await desk.says("Nothing special").book({ event_id: CELLAR, quote_id: String(asked.quote_id) })).toMatchObject({
      status: "stopped",
    });
  });

  test("the guest's own words take a companion out, and are asked for a yes to what is left", async () => {
    const desk = new Desk();
    desk.constraints = [constraint("Uses a wheelchair", "accessibility", "companion:mother")];
    const { quote_id } = await desk.says("Two for me and my mum").book({ event_id: CELLAR, quantity: 2 });
    const without = await desk.says("My mother isn't coming, book it").book({ event_id: CELLAR, quote_id: String(quote_id) });
    expect(without).toMatchObject({ status: "needs_confirmation", companions: [] });
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "booked" });
  });

  test("when the store is down it asks, and books on the guest's word that there is nothing to mind", async () => {
    const desk = new Desk();
    desk.storeDown = true;
    const asked = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(asked).toMatchObject({ status: "stopped", reason: expect.stringMatching(/can't be read/) });
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(asked.quote_id) })).toMatchObject({ status: "stopped" });
    expect(await desk.says("No restrictions").book({ event_id: CELLAR, quote_id: String(asked.quote_id) })).toMatchObject({
      status: "booked",
    });
  });

  test("a store that comes back in between is heard", async () => {
    const desk = new Desk();
    desk.storeDown = true;
    const asked = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.storeDown = false;
    desk.constraints = [need];
    expect(await desk.says("Nothing special").book({ event_id: CELLAR, quote_id: String(asked.quote_id) })).toMatchObject({
      status: "stopped",
      conflicts: [{ memory_id: need.id }],
    });
  });

  test("a quote doesn't wait for what the guest has said to be in memory; a booking does, and is held against it", async () => {
    const desk = new Desk();
    desk.written = async () => {
      desk.constraints = [need];
      return true;
    };
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    expect(quote).toMatchObject({ status: "needs_confirmation" });
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(quote.quote_id) })).toMatchObject({
      status: "stopped",
      conflicts: [{ memory_id: need.id }],
    });
  });

  test("where something that the guest said does not get into memory, it asks, as with the store down", async () => {
    const desk = new Desk();
    desk.written = async () => false;
    const quote = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    const named = { event_id: CELLAR, quote_id: String(quote.quote_id) };
    expect(await desk.says("Yes").book(named)).toMatchObject({ status: "stopped", reason: expect.stringMatching(/can't be read/) });
    expect(await desk.says("Yes").book(named)).toMatchObject({ status: "stopped" });
    expect(await desk.says("There is nothing to mind").book(named)).toMatchObject({ status: "booked" });
  });

  test("what is known stops it all the same, with its reason", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.written = async () => false;
    desk.constraints = [need];
    const named = { event_id: CELLAR, quote_id: String(quote_id) };
    expect(await desk.says("Yes").book(named)).toMatchObject({ status: "stopped", conflicts: [{ memory_id: need.id }] });
    expect(await desk.says("Book it anyway").book(named)).toMatchObject({
      status: "stopped",
      reason: expect.stringMatching(/can't be read/),
    });
    expect(await desk.says("No restrictions").book(named)).toMatchObject({ status: "booked", overridden: [need.id] });
  });

  test("a store that goes down between quote and yes is not passed over", async () => {
    const desk = new Desk();
    const { quote_id } = await desk.says("Two for the trio").book({ event_id: CELLAR, quantity: 2 });
    desk.storeDown = true;
    expect(await desk.says("Yes").book({ event_id: CELLAR, quote_id: String(quote_id) })).toMatchObject({ status: "stopped" });
  });
});

describe("cancelling", () => {
  async function withBooking(): Promise<{ desk: Desk; id: string }> {
    const desk = new Desk();
    await desk.says("Two seats").book({ event_id: STEP_FREE, quantity: 2 });
    const { booking_id } = await desk.says("Yes").book({ event_id: STEP_FREE });
    return { desk, id: String(booking_id) };
  }

  test("needs the guest's own words", async () => {
    const { desk, id } = await withBooking();
    expect(await desk.says("What a nice evening that will be").cancel(id)).toMatchObject({ status: "needs_confirmation" });
    expect(desk.bookings.get(desk.owner, id).status).toBe("confirmed");
    expect(await desk.says("Yes").cancel(id)).toMatchObject({ status: "cancelled" });
  });

  test("takes a plain request at its word, and gives the seats back", async () => {
    const { desk, id } = await withBooking();
    expect(desk.bookings.sold(STEP_FREE, "Bar")).toBe(2);
    expect(await desk.says("Please cancel my booking").cancel(id)).toMatchObject({ status: "cancelled" });
    expect(desk.bookings.sold(STEP_FREE, "Bar")).toBe(0);
    expect(await desk.says("Show me my bookings").list()).toEqual({ bookings: [] });
  });

  test.each(["don't cancel it", "Never cancel that"])("%j keeps it", async (words) => {
    const { desk, id } = await withBooking();
    expect(await desk.says(words).cancel(id)).toMatchObject({ status: "needs_confirmation" });
    expect(desk.bookings.get(desk.owner, id).status).toBe("confirmed");
  });

  test("a booking of somebody else is not there", async () => {
    const { desk, id } = await withBooking();
    desk.owner = ownerOf("default", "bob");
    await expect(desk.says("Cancel it").cancel(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await desk.says("My bookings").list()).toEqual({ bookings: [] });
  });
});
