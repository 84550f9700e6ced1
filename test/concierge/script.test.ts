import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conciergeScript } from "../../packages/concierge/src/offline-script.js";
import { daysIn } from "../../packages/concierge/src/script/dates.js";
import { partyIn, priceIn } from "../../packages/concierge/src/script/words.js";
import { besidesKeepOut, commandsOf } from "../../packages/offline/src/memory-commands.js";
import { NOT_KEPT } from "../../packages/offline/src/script/memory-replies.js";
import { ordinalIn } from "../../packages/offline/src/script/ordinals.js";
import { asksToCancel, readReply } from "../../packages/offline/src/script/reply.js";
import type { ScriptView } from "../../src/ports/offline-script.js";
import { scriptView } from "../support/script-view.js";

/** What the guest was told of is held against nothing. */
const NOTHING_BOOKED = [{ name: "list_bookings", input: {}, output: { bookings: [] } }];
const WEDNESDAY = "2026-03-11T10:00:00Z";

describe("days, as a guest names them", () => {
  test.each([
    // words, now, time zone, from, to
    ["this weekend", WEDNESDAY, "UTC", "2026-03-14", "2026-03-15"],
    ["at the weekend", "2026-03-14T09:00:00Z", "UTC", "2026-03-14", "2026-03-15"],
    ["this weekend", "2026-03-15T09:00:00Z", "UTC", "2026-03-15", "2026-03-15"],
    ["this weekend", "2026-03-15T20:00:00Z", "UTC", "2026-03-21", "2026-03-22"],
    ["next weekend", WEDNESDAY, "UTC", "2026-03-21", "2026-03-22"],
    ["next weekend", "2026-03-15T09:00:00Z", "UTC", "2026-03-21", "2026-03-22"],
    ["tonight", WEDNESDAY, "UTC", "2026-03-11", "2026-03-11"],
    // The guest's own day: at 23:30 UTC it is tomorrow in Tokyo, and still today in Lisbon.
    ["tonight", "2026-03-11T23:30:00Z", "Asia/Tokyo", "2026-03-12", "2026-03-12"],
    ["tomorrow", "2026-03-11T23:30:00Z", "Asia/Tokyo", "2026-03-13", "2026-03-13"],
    ["tomorrow", "2026-03-11T23:30:00Z", "Europe/Lisbon", "2026-03-12", "2026-03-12"],
    // The night of the change of the clocks, and the end of the year.
    ["tomorrow", "2026-03-28T23:30:00Z", "Europe/Vienna", "2026-03-30", "2026-03-30"],
    ["tomorrow", "2026-12-31T12:00:00Z", "UTC", "2027-01-01", "2027-01-01"],
    ["next month", "2026-12-31T12:00:00Z", "UTC", "2027-01-01", "2027-01-31"],
    ["next week", "2026-12-30T12:00:00Z", "UTC", "2027-01-04", "2027-01-10"],
    ["on the 5th", WEDNESDAY, "UTC", "2026-04-05", "2026-04-05"],
    ["on Friday", WEDNESDAY, "UTC", "2026-03-13", "2026-03-13"],
    ["on 3 January", WEDNESDAY, "UTC", "2027-01-03", "2027-01-03"],
    ["in April", WEDNESDAY, "UTC", "2026-04-01", "2026-04-30"],
    ["between 3 and 8 May", WEDNESDAY, "UTC", "2026-05-03", "2026-05-08"],
    ["the day after tomorrow", WEDNESDAY, "UTC", "2026-03-13", "2026-03-13"],
  ])("%s, said at %s in %s: %s to %s", (words, now, timeZone, from, to) => {
    expect(daysIn(`Is there anything ${words}?`, new Date(now), timeZone)?.days).toEqual({ from, to });
  });

  test.each([
    ["Das Rheingold Sat", "2026-03-14"],
    ["Das Rheingold Mon", "2026-03-16"],
    ["Fri in Den Haag", "2026-03-13"],
    ["Night in de Wallen Fri", "2026-03-13"],
  ])("a short day's name counts beside a foreign title: %s", (words, day) => {
    expect(daysIn(words, new Date(WEDNESDAY), "UTC")?.days).toEqual({ from: day, to: day });
  });

  test.each(["mon budget", "Mon budget est de 30 euros", "cena con vista al mar", "Sol y mar", "cena en el mar"])(
    "a short word of another language names no day: %s",
    (words) => {
      expect(daysIn(words, new Date(WEDNESDAY), "UTC")).toBeUndefined();
    },
  );

  test.each(["the second one", "two tickets", "how much is it?", "number 3", "I prefer the first"])("%j names no day", (words) => {
    expect(daysIn(words, new Date(WEDNESDAY), "UTC")).toBeUndefined();
  });
});

test.each([
  ["two tickets for the third one", 2, 2],
  ["book the second one for four", 4, 1],
  ["3 seats for number two", 3, 1],
  ["the 2nd, for a couple of people", undefined, 1],
  ["just me, the last one", 1, -1],
  ["the one on 3 March", undefined, undefined],
  ["under 40 euros", undefined, undefined],
  ["me and my brother", 2, undefined],
  ["we stay for three nights, a table for five", 5, undefined],
])("%j: %s seats, place %s", (words, seats, place) => {
  if (seats !== undefined) expect(partyIn(words)).toBe(seats);
  expect(ordinalIn(words)).toBe(place);
});

test.each([
  "We have been married for ten years. Any jazz in Lisbon next week?",
  "We are in town for three days",
  "I'll be there for two more weeks",
  "It is for 4 hours",
])("%j counts nobody", (words) => {
  expect(partyIn(words)).toBeUndefined();
});

test.each([
  ["under 40 euros", 40],
  ["€25 or less", 25],
  ["nothing over 30", 30],
  ["at most 2 tickets", undefined],
  ["for 8 people", undefined],
  ["my budget is 120", 120],
])("%j: at most %s", (words, euros) => expect(priceIn(words)).toBe(euros));

describe("a guest's reply", () => {
  test.each(["yes", "Yes please!", "sure", "go ahead", "ja bitte", "d'accord", "vale", "sì", "Perfect, book it", "no problem, go ahead"])(
    "%j agrees",
    (words) => {
      expect(readReply(words).yes).toBe(true);
    },
  );
  test.each([
    "no",
    "yes but later",
    "yes?",
    "not sure",
    "ok, sorry",
    "yes, and I use a wheelchair now",
    "wait",
    "don't",
    "cancel",
    "maybe",
    "nein",
    "si c'est moins cher",
    "I said yesterday",
    "yes ".repeat(40),
  ])("%j does not", (words) => {
    expect(readReply(words).yes).toBe(false);
  });
  test("asks to cancel, or not", () => {
    const asks = [
      "Cancel it",
      "Could you cancel my booking?",
      "I need to cancel",
      "bitte stornieren",
      "annulez la réservation",
      "My flight was cancelled, so cancel it",
    ];
    const doesNot = [
      "please don't cancel",
      "What is your cancellation policy?",
      "Can I cancel later?",
      "what if we cancel",
      "How do I cancel?",
      "Ne l'annulez pas",
      "No need to cancel it",
      "Is it cancelled?",
      "My flight was cancelled",
      "Le vol est annulé",
      "My other dentist had to cancel",
    ];
    expect(asks.filter((words) => !asksToCancel(words))).toEqual([]);
    expect(doesNot.filter(asksToCancel)).toEqual([]);
  });
});

const VIEW = scriptView({
  now: new Date(WEDNESDAY),
  memories: [{ text: "Prefers jazz concerts", category: "genre", mustHold: false, subject: "self" }],
  summary: "The guest likes the sea.",
  window: [
    {
      user: "Hello",
      told: "Hello",
      observations: [{ name: "search_events", input: {}, output: { found: 0, events: [{}] } }],
      assistant: "Hello.",
    },
  ],
  tools: new Set(["search_events", "get_event", "book_tickets", "list_bookings", "cancel_booking", "forget", "remember", "list_memories"]),
});

describe("what waits for the guest's word", () => {
  const VIEWED = { ...VIEW, window: [], tools: new Set([...VIEW.tools, "settle_memory"]) };
  const waits = (text: string) => ({ ...VIEWED, message: "Hello", waiting: [{ id: "m1", text }] });

  test.each([
    ["No peanuts", "Shall I keep “No peanuts”?", "Thank you. I keep it."],
    ["No longer: Is allergic to nuts", "Does this no longer hold: “Is allergic to nuts”?", "Thank you. I go by that from now on."],
    ["Mother: No longer: nuts", "Does this no longer hold: “Mother: nuts”?", "Thank you. I go by that from now on."],
    [
      "Likes boxes (instead of: Likes aisles)",
      "Does “Likes boxes” now hold instead of “Likes aisles”?",
      "Thank you. I go by that from now on.",
    ],
  ])("%s is asked about as what it is, and settled by a yes", (text, question, thanks) => {
    const asked = conciergeScript.next(waits(text));
    expect(asked).toMatchObject({ type: "say", text: expect.stringContaining(`\n\n${question}`) });
    const window = [{ user: "Hello", told: "Hello", observations: [], assistant: question }];
    const next = { ...waits(text), message: "Yes", window };
    const answers = [{ memory_id: "m1", answer: "yes", quote: "Yes" }];
    expect(conciergeScript.next(next)).toEqual({ type: "call", calls: [{ name: "settle_memory", arguments: { answers } }] });
    const observations = [{ name: "settle_memory", input: { answers }, output: {} }];
    expect(conciergeScript.next({ ...next, observations })).toEqual({ type: "say", text: thanks });
  });

  test("is asked about with the companion's name once", () => {
    const of = (text: string) => conciergeScript.next(waits(text));
    expect(of("Tom: Tom can't eat nuts")).toMatchObject({ text: expect.stringContaining("Shall I keep “Tom can't eat nuts”?") });
    expect(of("Tom: No nuts")).toMatchObject({ text: expect.stringContaining("Must I mind nuts for Tom?") });
    expect(of("Friend: assistance dog (guide dog)")).toMatchObject({
      text: expect.stringContaining("Must I mind assistance dog (guide dog) for your friend?"),
    });
    expect(of("No lactose (dairy)")).toMatchObject({ text: expect.stringContaining("Must I mind lactose (dairy) for you?") });
  });

  test("is asked about as what the guest didn't want kept, where it is that", () => {
    const move = conciergeScript.next({ ...waits("No nuts"), waiting: [{ id: "m1", text: "No nuts", offRecord: true }] });
    expect(move).toMatchObject({ text: expect.stringContaining("You asked me not to keep “No nuts”. Shall I all the same") });
  });

  test("is not asked about once a tool has settled it in this turn", () => {
    const observations = [
      { name: "forget", input: { what: "nuts", memory_id: "m1" }, output: { status: "forgotten", forgot: ["Is allergic to nuts"] } },
    ];
    const commands = [{ kind: "forget", what: "nuts" }] as const;
    const view = { ...waits("No longer: Is allergic to nuts"), message: "Forget the nuts", commands, observations };
    expect(conciergeScript.next(view)).toEqual({ type: "say", text: "I have forgotten: Is allergic to nuts." });
  });
});

describe("what asks for nothing is looked for by no search", () => {
  const said = (message: string, more: Partial<ScriptView> = {}) => conciergeScript.next({ ...VIEW, window: [], message, ...more });
  const saying = (text: string) => ({ type: "say", text: expect.stringContaining(text) });

  test.each([
    "Good morning! We're both coeliac, and I adore the opera",
    "hey there im deaf n we luv comedy",
    "Hiya Petra, my dad can't do stairs",
    "Hello again. I've gone off rock, folk is what we listen to",
    "hi my kids are vegetarian",
    "oh and my husband is coeliac",
    "Hello, this is Olga. We can't eat gluten",
    "thanks, my brother eats halal btw",
    "Ok we always listen to folk",
  ])("a greeting before what is told: %s", (message) => {
    expect(said(message, { observations: NOTHING_BOOKED })).toEqual({
      type: "say",
      text: expect.stringMatching(/^(?:I've noted|Noted) for this conversation/),
    });
  });

  test.each([
    ["My wife is coming along. She is vegan, and I love jazz.", "I've noted for this conversation: wife is vegan; loves jazz."],
    [
      "I can't do stairs and my son Leo is allergic to nuts",
      "I've noted for this conversation: cannot do stairs; son Leo is allergic to nuts.",
    ],
    ["Je suis végétarienne et j'adore le jazz", "I've noted for this conversation: je suis végétarienne; j'adore le jazz."],
    ["Ich bin Veganer und meine Frau Anna ist allergisch gegen Nüsse", "ich bin Veganer; meine Frau Anna ist allergisch gegen Nüsse."],
    ["Soy alérgico a los cacahuetes", "I've noted for this conversation: soy alérgico a los cacahuetes."],
  ])("what is told is named as it was understood: %s", (message, named) => {
    expect(said(message, { observations: NOTHING_BOOKED })).toEqual(saying(named));
  });

  test.each(["My wife might be vegan, not sure", "I am not allergic to nuts", "We used to be vegan"])(
    "what is doubted, or is none, is named by no answer: %s",
    (message) => {
      expect(said(message, { observations: NOTHING_BOOKED })).toEqual({
        type: "say",
        text: expect.stringMatching(/^Noted for this conversation\./),
      });
    },
  );

  test.each([
    "I'm allergic to nuts, just kidding",
    "I'm vegan haha",
    "I prefer to pay with card 4111 1111 1111 1111",
    `I prefer aisle seats${" ".repeat(450)}and to pay with card 4111 1111 1111 1111`,
  ])("nor is what is said in jest, or beside a secret: %s", (message) => {
    expect(said(message, { observations: NOTHING_BOOKED })).toEqual({
      type: "say",
      text: expect.stringMatching(/^Noted for this conversation\./),
    });
  });

  test.each([
    "Merk dir das nicht: meine Frau ist vegan",
    "Off the record: with Ana, she's vegan",
    "Off the record: thanks, my wife is vegan",
  ])("nor what is to be kept out of memory, whoever it is of: %s", (message) => {
    const found = commandsOf(message);
    const kept = { commands: found.map(({ command }) => command), request: besidesKeepOut(message, found) };
    expect(kept.commands).toEqual([{ kind: "do_not_remember" }]);
    expect(said(message, kept)).toEqual({ type: "say", text: NOT_KEPT });
  });

  test.each([
    "Hi! We love opera. What's on this weekend?",
    "hello, find us something vegan",
    "Hey, I'm looking for jazz in Vienna",
    "Hi I'm vegetarian, dinner for three in Hamburg",
    "Good evening. My wife is vegan. A table for Saturday please",
    "great, we take the opera in Vienna",
  ])("a greeting before a wish keeps the wish: %s", (message) => {
    expect(said(message)).toMatchObject({ type: "call", calls: [{ name: "search_events" }] });
  });

  test.each([
    "yep keep it",
    "Yes, that's correct",
    "yea thats right",
    "ok, please remember that",
    "keep those plz",
    "yess",
    "sure, note that for later",
  ])("a yes where nothing was asked: %s", (message) => {
    expect(said(message)).toEqual(saying("Nothing waits for a yes or no"));
  });

  /** To "Shall I keep …?". */
  const toKeeping = (words: string) =>
    said(words, {
      waiting: [{ id: "m1", text: "Is allergic to feathers" }],
      tools: new Set([...VIEW.tools, "settle_memory"]),
      window: [{ user: "Hello", told: "Hello", observations: [], assistant: "Shall I keep “Is allergic to feathers”?" }],
    });

  test.each([
    "cancel the brunch",
    "storniere den Flug",
    "no, cancel the taxi",
    "No, don't cancel that",
    "No cancele Night Shift Trio",
    "no, can I cancel my booking",
  ])("a cancellation is no no to what must hold: %s", (message) => {
    expect(toKeeping(message)).not.toMatchObject({ calls: [{ name: "settle_memory" }] });
  });

  test.each([
    "no, cancel that",
    "no cancel that",
    "no, cancela eso",
    "non, annule ça",
    "non, annulez cela",
    "nein, storniere das",
    "nein, storniere es",
    "no, annulla questo",
    "No, cancel it all",
    "no, please cancel this one",
  ])("a no that cancels what was asked about is one: %s", (message) => {
    expect(toKeeping(message)).toMatchObject({
      calls: [{ name: "settle_memory", arguments: { answers: [{ memory_id: "m1", answer: "no", quote: message }] } }],
    });
  });

  test("the same words keep what was asked about, and end nothing", () => {
    const asked = (text: string, assistant: string) =>
      said("yeah, keep that", {
        waiting: [{ id: "m1", text }],
        tools: new Set([...VIEW.tools, "settle_memory"]),
        window: [{ user: "Hello", told: "Hello", observations: [], assistant }],
      });
    const answers = [{ memory_id: "m1", answer: "yes", quote: "yeah, keep that" }];
    const settles = { type: "call", calls: [{ name: "settle_memory", arguments: { answers } }] };
    expect(asked("No peanuts", "Shall I keep “No peanuts”?")).toEqual(settles);
    expect(asked("No longer: No peanuts", "Does this no longer hold: “No peanuts”?")).toMatchObject({ type: "say" });
  });

  test.each([
    "Meine Frau ist schwerhörig und wir lieben die Oper",
    "hallo ich vertrage keine nüsse",
    "Nous sommes végétaliens et j'aime le théâtre",
    "Tengo alergia al marisco y me encanta el jazz",
    "Sono celiaca e preferisco i posti in galleria",
    "Mam alergię na orzechy i lubię jazz",
    "У меня аллергия на орехи",
    "私は車椅子を使っています",
  ])("what is told in another language is not said to be understood: %s", (message) => {
    expect(said(message)).toEqual(saying("I understand little beyond English"));
    expect(said(message, { memoryIsOff: true })).toEqual(saying("Memory is switched off"));
    expect(said(message, { tools: new Set(["search_events"]) })).toEqual(saying("Memory is switched off"));
  });

  test.each([
    ["ma soeur Inès vient aussi, elle est en fauteuil roulant", "sister Inès: elle est en fauteuil roulant."],
    ["Ma femme est allergique aux noix", "allergique aux noix."],
    ["Mi mujer es vegana", "mujer es vegana."],
    ["Mio marito è allergico alle noci", "mio marito è allergico alle noci."],
  ])("what is told of somebody else in another language is named: %s", (message, named) => {
    expect(said(message)).toEqual(saying("I've noted for this conversation: "));
    expect(said(message)).toEqual(saying(named));
    expect(said(message, { tools: new Set(["search_events"]) })).toEqual(saying("Memory is switched off"));
  });

  test.each([
    "Jazz à Vienne pour ma femme",
    "Un concert de jazz pour ma femme, elle est en fauteuil roulant",
    "Réserve pour ma femme, elle est allergique aux noix",
  ])("a wish for them is none of it: %s", (message) => {
    expect(said(message)).not.toEqual(saying("noted"));
  });

  test.each(["Wir möchten Jazz in Wien", "Busco opera en Viena", "My mam is vegan and Ben adores soy milk"])(
    "nor is a wish, or English, taken for that: %s",
    (message) => {
      expect(said(message)).not.toEqual(saying("I understand little beyond English"));
    },
  );
});

describe("a wish that begins with who comes is looked for", () => {
  test.each([
    "Just me, jazz concert",
    "For me, a jazz concert",
    "The family wants pizza",
    "She fancies jazz",
    "Mum would enjoy jazz",
    "Family dinner, four people",
    "Family dinner, vegan",
    "Family hotel",
    "Family friendly restaurant with a playground",
    "Children's theatre",
    "Children's museum",
    "Kids museum",
    "Dog friendly pub",
    "Friends in town, cocktail bar",
  ])("%s", (message) => {
    expect(conciergeScript.next({ ...VIEW, message })).toMatchObject({ type: "call", calls: [{ name: "search_events" }] });
  });

  test.each(["Mum's deaf", "The kids are coming too", "Dad is coming along and he loves jazz", "There's me and my wife"])(
    "but not what is told of them: %s",
    (message) => {
      expect(conciergeScript.next({ ...VIEW, observations: NOTHING_BOOKED, message })).toMatchObject({
        type: "say",
        text: expect.stringMatching(/noted/i),
      });
    },
  );
});

test("no message makes the script fail or take long", () => {
  const words = fc.constantFrom(
    "book",
    "the",
    "second",
    "two",
    "jazz",
    "cancel",
    "yes",
    "my",
    "?",
    "€",
    "12",
    "tomorrow",
    "under",
    "forget",
    "that",
    "I",
    "\n",
    "Ω",
  );
  const message = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.array(words, { maxLength: 30 }).map((list) => list.join(" ")),
  );
  fc.assert(
    fc.property(message, (text) => {
      const move = conciergeScript.next({ ...VIEW, message: text });
      return move.type === "say" ? move.text !== "" : move.calls.length > 0;
    }),
    { numRuns: 200 },
  );
}, 120_000);
