import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conciergeScript } from "../../packages/concierge/src/offline-script.js";
import { openConcierge } from "../../packages/concierge/src/open-concierge.js";
import { OfflineModel } from "../../packages/offline/src/offline-model.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Domain } from "../../src/ports/agent.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { Conversation } from "../support/conversation.js";

/** A Wednesday. */
const NOW = new Date("2026-03-11T10:00:00Z");

interface Paraphrase {
  /** Said before, in order. */
  readonly after?: readonly string[];
  readonly say: string;
  /** Null: none. Left out: whichever. */
  readonly tool?: string | null;
  readonly input?: Record<string, unknown>;
  readonly reply?: RegExp;
}

const SATURDAY_TO_SUNDAY = { from: "2026-03-14", to: "2026-03-15" };
const LIST = "Show me jazz concerts this weekend";
const QUOTED = [LIST, "I'd like two tickets for the first one"];
const BOOKED = [...QUOTED, "Yes, please book it"];

const SEARCHES: readonly Paraphrase[] = [
  { say: "Find me a jazz gig in Lisbon", tool: "search_events", input: { genre: "jazz", city: "Lisbon" } },
  {
    say: "Could you look for some opera next week?",
    tool: "search_events",
    input: { genre: "opera", from: "2026-03-16", to: "2026-03-22" },
  },
  { say: "What's on in Dublin tomorrow evening?", tool: "search_events", input: { city: "Dublin", from: "2026-03-12", to: "2026-03-12" } },
  {
    say: "I'm in the mood for a comedy on Friday",
    tool: "search_events",
    input: { genre: "comedy", from: "2026-03-13", to: "2026-03-13" },
  },
  {
    say: "Is there any football in Hamburg this month?",
    tool: "search_events",
    input: { genre: "football", city: "Hamburg", to: "2026-03-31" },
  },
  {
    say: "we'd love to see a ballet sometime next month",
    tool: "search_events",
    input: { genre: "dance", from: "2026-04-01", to: "2026-04-30" },
  },
  { say: "Rock concerts under 35 euros please", tool: "search_events", input: { genre: "rock", max_price_eur: 35 } },
  {
    say: "Where can we eat vegan in Vienna on Saturday?",
    tool: "search_events",
    input: { kind: "dining", city: "Vienna", diet: "vegan", from: "2026-03-14" },
  },
  { say: "Got anything with puppets for my nephew on Saturday?", tool: "search_events", input: { genre: "puppetry", from: "2026-03-14" } },
  {
    say: "Suggest a theatre evening for four people on 20 March",
    tool: "search_events",
    input: { kind: "theatre", party_size: 4, from: "2026-03-20", to: "2026-03-20" },
  },
  {
    say: "Which classical concerts are there between 20 and 29 March?",
    tool: "search_events",
    input: { genre: "classical", from: "2026-03-20", to: "2026-03-29" },
  },
  {
    say: "something cheap with music tonight",
    tool: "search_events",
    input: { kind: "music", max_price_eur: 25, from: "2026-03-11", to: "2026-03-11" },
  },
  {
    say: "Any wheelchair accessible concerts in Barcelona?",
    tool: "search_events",
    input: { kind: "music", city: "Barcelona", step_free: "only" },
  },
  { say: "Is Marta Vale playing soon?", tool: "search_events", input: { text: "marta vale" }, reply: /Marta Vale/ },
  { say: "when do paper lions play", tool: "search_events", input: { text: "paper lions" }, reply: /Paper Lions/ },
  {
    say: "I want to go to a seafood place on Sunday, max €50 a head",
    tool: "search_events",
    input: { genre: "seafood", max_price_eur: 50, from: "2026-03-15" },
  },
  { say: "what can I do in Hamburg at the weekend", tool: "search_events", input: { city: "Hamburg", ...SATURDAY_TO_SUNDAY } },
  {
    say: "Recommend a nice dinner for two on Friday the 13th",
    tool: "search_events",
    input: { kind: "dining", party_size: 2, from: "2026-03-13" },
  },
  {
    say: "basketball, anywhere, in the next two weeks",
    tool: "search_events",
    input: { genre: "basketball", from: "2026-03-11", to: "2026-03-25" },
  },
  {
    say: "Do you have a musical for the weekend after next?",
    tool: "search_events",
    input: { genre: "musical", from: "2026-03-28", to: "2026-03-29" },
  },
  { say: "looking for live folk music, nothing over 25 euros", tool: "search_events", input: { genre: "folk", max_price_eur: 25 } },
  {
    say: "How about some techno on the 14th?",
    tool: "search_events",
    input: { genre: "electronic", from: "2026-03-14", to: "2026-03-14" },
  },
  { say: "Anything by the Heron Chamber Players?", tool: "search_events", reply: /Harp and Oboe/ },
  {
    say: "I love jazz. What do you have in Vienna on Saturday?",
    tool: "search_events",
    input: { genre: "jazz", city: "Vienna", from: "2026-03-14" },
  },
];

const BOOKINGS: readonly Paraphrase[] = [
  { after: [LIST], say: "book two of the third one", tool: "book_tickets", input: { quantity: 2 }, reply: /two seats.*Shall I book it/s },
  { after: [LIST], say: "I'll take 3 seats for number 2", tool: "book_tickets", input: { quantity: 3 } },
  {
    after: [LIST],
    say: "Reserve four tickets for the one in Vienna, please",
    tool: "book_tickets",
    input: { quantity: 4 },
    reply: /Vienna/,
  },
  { after: [LIST], say: "get us a couple of tickets for the last one", tool: "book_tickets", input: { quantity: 2 } },
  { after: [LIST], say: "The cheapest for me and my wife, book that", tool: "book_tickets", input: { quantity: 2, companions: ["wife"] } },
  { after: [LIST], say: "please book the first", tool: "check_availability", reply: /How many seats/ },
  { after: ["any jazz for me and my hubby this weekend?"], say: "cool, book #2 pls", tool: "book_tickets", input: { quantity: 2 } },
  { after: [LIST, "make that for the two of us"], say: "the second, please book it", tool: "book_tickets", input: { quantity: 2 } },
  { after: [LIST, "please book the first"], say: "three please", tool: "book_tickets", input: { quantity: 3 } },
  { after: [LIST, "Tell me more about option 2"], say: "Great, book it for 2", tool: "book_tickets", input: { quantity: 2 } },
  {
    say: "Book 2 tickets for The Wrong Suitcase on 14 March",
    tool: "book_tickets",
    input: { event_id: "the-wrong-suitcase-2026-03-14", quantity: 2 },
  },
  { after: QUOTED, say: "Yes, go ahead", tool: "book_tickets", reply: /^Booked: two seats/ },
  { after: QUOTED, say: "sounds perfect, please do", tool: "book_tickets", reply: /^Booked/ },
  { after: QUOTED, say: "ok, confirm", tool: "book_tickets", reply: /^Booked/ },
  { after: QUOTED, say: "make it three", tool: "book_tickets", input: { quantity: 3 }, reply: /three seats.*Shall I book it/s },
  { after: QUOTED, say: "What would that be in all?", tool: "book_tickets", reply: /two seats.*€\d+.*Shall I book it/is },
  { after: QUOTED, say: "no thanks", tool: null, reply: /nothing is booked/i },
  { after: QUOTED, say: "Hmm, rather not", tool: null, reply: /nothing is booked/i },
];

/** A yes to another question is none to a quote. */
const YES_TO_SOMETHING_ELSE: readonly Paraphrase[] = [
  { after: [...QUOTED, "no thanks"], say: "yes", tool: null, reply: /^(?!Booked)/ },
  { after: [...QUOTED, "no thanks", "What is on tomorrow in Lisbon?"], say: "yes", reply: /^(?!Booked)/ },
  { after: [...QUOTED, "What is on tomorrow in Lisbon?"], say: "yes please", reply: /^(?!Booked)/ },
  { after: [...QUOTED, "Tell me more about option 2"], say: "yes", reply: /^(?!Booked)/ },
  { after: [...QUOTED, "What would that be in all?"], say: "yes", tool: "book_tickets", reply: /^Booked/ },
  { after: [...QUOTED, "no thanks"], say: "ok then, book it", reply: /^(?!Booked)/ },
];

const AFTERWARDS: readonly Paraphrase[] = [
  { after: BOOKED, say: "Show me my bookings", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "what have I reserved so far?", tool: "list_bookings", reply: /two seats/ },
  { after: BOOKED, say: "Do I have any tickets?", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "What bookings do I have?", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "What's booked?", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "Am I booked for anything?", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "Remind me what I booked", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "list all of my upcoming bookings", tool: "list_bookings", reply: /MD-/ },
  { after: BOOKED, say: "when is my concert?", tool: "list_bookings", reply: /MD-/ },
  { say: "list my reservations", tool: "list_bookings", reply: /no bookings/ },
  { after: BOOKED, say: "Please cancel that booking", tool: "cancel_booking", reply: /Shall I cancel it\?$/ },
  { after: BOOKED, say: "I need to call it off", tool: "cancel_booking", reply: /Shall I cancel it\?$/ },
  { after: [...BOOKED, "Thanks!"], say: "Sorry, cancel my reservation", tool: "cancel_booking", reply: /Shall I cancel it\?$/ },
  { say: "Cancel my booking", tool: "list_bookings", reply: /no bookings/ },
];

const DANGERS: readonly Paraphrase[] = [
  { after: ["dinner in Vienna on Saturday"], say: "Book two for Hamlet", reply: /^(?!I can book)/ },
  { after: ["dinner in Vienna on Saturday"], say: "Book that for two", tool: "book_tickets", reply: /^I can book/ },
  { after: [...BOOKED, "list my reservations"], say: "cancel the second one", tool: "list_bookings", reply: /no such number/ },
  { say: "yes", tool: null },
  { after: [LIST, "Tell me more about option 2"], say: "yes please", tool: "check_availability", reply: /How many seats/ },
  { say: "A table for 4 on Sunday, one of us is vegan", tool: "search_events", input: { kind: "dining", party_size: 4, diet: "vegan" } },
];

const DETAILS: readonly Paraphrase[] = [
  { after: [LIST], say: "How much is the second one?", tool: "get_event", reply: /€/ },
  { after: [LIST], say: "what time does number three start?", tool: "get_event" },
  { after: [LIST], say: "is the first one step-free?", tool: "get_event", reply: /step-free/ },
  { after: ["dinner in Vienna on Saturday"], say: "does it have a vegan menu?", tool: "get_event", reply: /Menus: .*vegan/ },
  { after: [LIST], say: "2nd one sounds ace", tool: "get_event" },
  { after: [LIST, "2nd one sounds ace"], say: "yep, 4 of us", tool: "book_tickets", input: { quantity: 4 } },
  { after: [LIST], say: "Tell me more about the fourth", tool: "get_event" },
];

const MEMORY: readonly Paraphrase[] = [
  { say: "Tell me everything you know about me", tool: null, reply: /^Memory is switched off here/ },
  { say: "show me everything you remember about me", tool: null, reply: /^Memory is switched off here/ },
  { after: ["My sister Ina is arriving on the 9:40 train."], say: "When is my sister's train?", tool: null, reply: /9:40/ },
  {
    after: ["We are staying at the hotel by the old harbour."],
    say: "Which hotel did I say we are staying at?",
    tool: null,
    reply: /old harbour/,
  },
  { say: "I prefer sitting near the stage", tool: null, reply: /^Memory is switched off here/ },
];

const SMALL_TALK: readonly Paraphrase[] = [
  { say: "Good evening!", tool: null },
  { say: "thank you so much", tool: null, reply: /welcome/ },
  { say: "What can you help me with?", tool: null, reply: /search concerts/ },
];

const ALL = { SEARCHES, BOOKINGS, YES_TO_SOMETHING_ELSE, DANGERS, AFTERWARDS, DETAILS, MEMORY, SMALL_TALK };

describe("the offline script understands everyday requests in many words", () => {
  let domain: Domain;
  beforeAll(async () => {
    domain = await openConcierge({
      engine: new MemoryEngine(),
      gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
    });
  });
  afterAll(() => domain.close?.());

  test("there are at least fifty", () => {
    expect(Object.values(ALL).flat().length).toBeGreaterThanOrEqual(50);
  });

  test("none of them stands in the source", async () => {
    const root = new URL("../../src/", import.meta.url);
    const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith(".ts"));
    const source = (await Promise.all(files.map((file) => readFile(new URL(file, root), "utf8")))).join("\n").toLowerCase();
    const phrases = Object.values(ALL)
      .flat()
      .flatMap(({ say, after }) => [say, ...(after ?? [])])
      .map((phrase) => phrase.toLowerCase().replace(/[.!?]+$/, ""))
      .filter((phrase) => phrase.split(" ").length >= 4);
    expect(phrases.filter((phrase) => source.includes(phrase))).toEqual([]);
  });

  for (const [group, paraphrases] of Object.entries(ALL))
    test.each(paraphrases.map((each) => [[...(each.after ?? []).slice(-1), each.say].join(" → "), each] as const))(
      `${group.toLowerCase()}: %s`,
      async (_, { after, say, tool, input, reply }) => {
        const guest = new Conversation({ domain, model: new OfflineModel({ script: conciergeScript }), now: NOW });
        for (const message of after ?? []) await guest.say(message);
        const { steps, content } = await guest.say(say);
        expect(steps.map(({ error }) => error).filter((error) => error !== null)).toEqual([]);
        if (tool === null) expect(steps).toEqual([]);
        else if (tool !== undefined)
          expect(steps.filter(({ name }) => name === tool).map((step) => step.input)).toContainEqual(expect.objectContaining(input ?? {}));
        if (tool === "search_events") expect(content).toMatch(/found:|found nothing/);
        if (reply) expect(content).toMatch(reply);
      },
    );
});
