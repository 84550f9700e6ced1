import { expect, test } from "vitest";
import { looksBack } from "../../packages/offline/src/look-back.js";

/** Questions that need what was said or done before. */
const LOOKING_BACK = [
  "What did I tell you about my allergies?",
  "Where was the place we booked last spring?",
  "Which restaurant did you recommend for my parents?",
  "Do you remember the name of the singer I liked?",
  "When was the last time we went to the opera?",
  "Have I ever mentioned my sister's birthday?",
  "What was that wine bar called again?",
  "Can you remind me what we decided about the seats?",
  "The same table as before, please.",
  "Book that hotel we stayed at in October.",
  "How much did we pay for the concert?",
  "What did you say about parking?",
  "Didn't I ask for an aisle seat?",
  "I'd like something like the show we saw last month.",
  "Who was it that wanted the vegan menu?",
  "What have I told you about my knee?",
  "Is it the dessert my wife loved?",
  "Back in March you found us a jazz club. Which one?",
  "Did we ever try the tasting menu?",
  "What was our plan for the anniversary again?",
  "As I said earlier today, how many of us are coming?",
  "Which of the hotels you suggested had a pool?",
  "Could you recall who my usual companion is?",
  "How was it that place was spelled, the one I mentioned the other day?",
  "What do you know about me so far?",
  "Have we already been to this theatre?",
  "Tell me again what I ordered last Friday.",
  "Was it the Italian or the French one we enjoyed more?",
  "What were my reasons against the balcony seats?",
  "Have you told me the dress code already?",
  "Our usual, please.",
  "On our last visit, which room did we have?",
  "What did my husband want to see?",
  "Where did I leave off with the wedding plans?",
  "I forgot the name of the pianist you sent me.",
  "Why did we cancel the cruise?",
  "Was habe ich dir über meine Allergie erzählt?",
  "Tu te souviens du restaurant de mars ?",
  "¿Qué te dije sobre mi hermana?",
  "我上次订的是哪家餐厅？",
];

/** Questions and requests that need nothing from before. */
const ORDINARY = [
  "What jazz concerts are on this weekend?",
  "Book two seats for Friday, please.",
  "Is there a vegan restaurant near the theatre?",
  "How much is a ticket for the matinee?",
  "I'm allergic to nuts.",
  "Remember that I don't eat fish.",
  "Please remember my birthday is on 3 May.",
  "Remind me tomorrow to call the hotel.",
  "Can you find us a table for six at eight?",
  "What time does the museum open?",
  "We need a babysitter until midnight.",
  "Have you got anything by the window?",
  "Did the band release a new album?",
  "I prefer the front row.",
  "Is the last tram after midnight?",
  "Which events are in the last week of May?",
  "I want to see the new musical before it closes.",
  "Cancel my booking for Saturday.",
  "Could you make it half past seven?",
  "Do you have a wheelchair ramp?",
  "My mother is coming along, she is vegetarian.",
  "What should we wear to the opera?",
  "Are dogs allowed on the terrace?",
  "Show me something cheaper.",
  "Thanks, that's perfect!",
  "Who is conducting on Sunday?",
  "What's the weather like tomorrow?",
  "Yes, please go ahead.",
  "How long does the play last?",
  "I've never been to a ballet. Which one would suit beginners?",
  "Can we bring our own wine?",
  "Is the pool heated?",
  "Do I need to print the tickets?",
  "We would like a room with a view of the sea.",
  "What was the composer of Carmen famous for?",
  "Tell me about the chef.",
  "Gibt es heute Abend noch Karten für das Konzert?",
  "Y a-t-il une table libre ce soir ?",
  "¿Hay entradas para mañana?",
  "今晚有爵士音乐会吗？",
];

test("questions that look back are told from ordinary ones: 40 of each, precision and recall at least 0.9", () => {
  const found = LOOKING_BACK.filter(looksBack);
  const wrong = ORDINARY.filter(looksBack);
  const precision = found.length / (found.length + wrong.length);
  const recall = found.length / LOOKING_BACK.length;
  console.info(
    `look-back trigger on ${LOOKING_BACK.length} + ${ORDINARY.length}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
  );
  const missed = LOOKING_BACK.filter((question) => !looksBack(question));
  expect([LOOKING_BACK.length, ORDINARY.length]).toEqual([40, 40]);
  expect(precision, `taken for looking back: ${wrong.join(" | ")}`).toBeGreaterThanOrEqual(0.9);
  expect(recall, `missed: ${missed.join(" | ")}`).toBeGreaterThanOrEqual(0.9);
});

test("long input is read in linear time", () => {
  for (const text of ["that ".repeat(1_600), "the same ".repeat(900), "did ".repeat(2_000), `was ${"a".repeat(7_990)}`])
    expect(looksBack(text)).toBeTypeOf("boolean");
});
