import { describe, expect, test } from "vitest";
import { conversationSets } from "../../bench/eval/conversations.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { mayWait, type RoundBefore } from "../../src/after-turn/deferred-turns.js";
import type { JsonValue, MessageRecord, Step } from "../../src/domain/session.js";
import { needTalkOf, needWordsOf, OFF_RECORD } from "../../src/languages/need-talk.js";
import { WaitingMessages } from "../../src/memories/may-wait.js";

const waiting = new WaitingMessages(CONCIERGE_NEEDS, needTalkOf(needWordsOf(CONCIERGE_NEEDS)), OFF_RECORD);
const judge = (text: string, answer: string | null) => waiting.mayWait(text, answer);

/** A round that ended with this answer. */
function answered(content: string, more: { readonly asked?: string[]; readonly output?: JsonValue } = {}): RoundBefore {
  const assistant = { type: "message", turn: 1, body: { role: "assistant", content, asked: more.asked } } as unknown as MessageRecord;
  const steps = more.output === undefined ? [] : [{ type: "tool_call", output: more.output } as Step];
  return { assistant, steps };
}

describe("[extraction-calls] waits to be read with the next one:", () => {
  test.each([
    "Thanks!",
    "Thank you so much",
    "ok",
    "👍",
    "👍🏽",
    "…",
    "Merci beaucoup !",
    "Vielen Dank!",
    "ありがとう",
    "謝謝",
    "شكرا جزيلا",
    "Good evening, what is on at the opera on Friday?",
    "Could you find us a table for Friday?",
    "Please show me the second one again.",
    "I'd like something quieter than that.",
    "What do two seats cost?",
    "Können Sie uns einen Tisch für Freitag suchen?",
    "Pourriez-vous trouver une table pour deux vendredi ?",
    "¿Qué hay en la ópera el viernes?",
    "Cosa c'è al teatro venerdì sera?",
  ])("%s", (text) => {
    expect(mayWait(judge, text, answered("It is booked."))).toBe(true);
    expect(mayWait(judge, text, null)).toBe(true);
  });

  test.each([
    ["Yes please.", "Shall I make a quote for two seats?"],
    ["Yes, the front table please.", "There is the bar, and a front table. Shall I take the front table for you?"],
    ["Gerne!", "Soll ich die beiden Plätze buchen?"],
  ])("“%s”, where the assistant offered “%s”", (text, question) => {
    expect(mayWait(judge, text, answered(question))).toBe(true);
  });
});

describe("[needs-read-at-once] is read at once:", () => {
  test.each([
    // Needs, by the domain's words, misspelt, in every language of them, in a question, in two words, in a sign.
    "Nut allergy!",
    "I use a wheelchair",
    "Could you find us a table without nuts?",
    "Is there anything for a vegitarian?",
    "Which of them have step-free access?",
    "Thanks, and no shellfish please",
    "Können Sie etwas ohne Nüsse finden?",
    "Avez-vous quelque chose sans gluten ?",
    "¿Tienen algo sin lactosa?",
    "Avete qualcosa per celiaci?",
    "ナッツアレルギー",
    "坚果过敏",
    "🥜🚫",
    "♿",
    // States of the guest or of others, whatever they are.
    "My late father loved Verdi.",
    "I have a heart condition, what would you suggest?",
    "Could you find a table near the door? My knee is bad.",
    "What is on for a guest with epilepsy?",
    "Can my daughter come along?",
    "She can't see well, which seats are good?",
    "We always sit on the aisle.",
    "Find dinner for two, he is diabetic.",
    // Limits.
    "Find us something under 60 pounds.",
    "At most two steps, please.",
    // What takes something back, or is not to be kept.
    "Actually, show us Saturday.",
    "Please forget the opera.",
    "Don't keep that",
    "Could you keep that between us?",
    "What we said about jazz was wrong.",
    // Instructions, and what was brought along.
    "Please always book the cheapest.",
    'Please translate "soy celíaco"',
    "> I am allergic to fish",
    // Languages of which the lists are not there.
    "Mówię po polsku, proszę o stolik",
    "Saya ingin meja untuk dua orang",
    "Можно столик на двоих?",
    "今夜の露天風呂は何時までですか？",
    "بندق",
    // Statements, and what can't be told.
    "Coconut!",
    "Home is Pune.",
    `Could you find ${"something ".repeat(60)}?`,
  ])("%s", (text) => {
    expect(mayWait(judge, text, answered("It is booked."))).toBe(false);
    expect(mayWait(judge, text, null)).toBe(false);
  });

  test.each([
    ["yes", "Does anyone have an allergy?"],
    ["yes", "Is it the stairs that are hard for you?"],
    ["Yes please.", "Shall I look for step-free rooms from now on?"],
    ["both", "Is it you or your wife who is coeliac?"],
    ["ok", "席は二つですか？"],
    ["ok", "هل تريد مقعدين؟"],
    ["ok", "Δύο θέσεις\u037e Πείτε μου."],
    ["coconut please", "Would you like a dessert?"],
  ])("“%s”, an answer to “%s”", (text, content) => {
    expect(mayWait(judge, text, answered(content))).toBe(false);
  });

  test("an answer to what was to be confirmed, or to what a tool had the assistant ask", () => {
    expect(mayWait(judge, "yes", answered("You said something of nuts.", { asked: ["m1"] }))).toBe(false);
    expect(mayWait(judge, "yes", answered("Tell me.", { output: { status: "which_one", ask: "Say which." } }))).toBe(false);
    expect(mayWait(judge, "yes", answered("Tell me.", { output: { status: "needs_confirmation" } }))).toBe(false);
    expect(mayWait(judge, "yes", answered("Two found.", { output: { status: "found", events: [] } }))).toBe(true);
  });
});

test("a product that names no needs leaves the same words to be read at once", () => {
  const plain = new WaitingMessages([]);
  expect(plain.mayWait("Thanks!", null)).toBe(true);
  expect(plain.mayWait("What is the weather like on Friday?", null)).toBe(true);
  expect(plain.mayWait("Is there something for somebody allergic to wool?", null)).toBe(false);
});

test("[needs-read-at-once] of what strangers wrote, no message that tells what must hold would wait", () => {
  const hard = conversationSets().flatMap(({ conversations }) =>
    conversations.flatMap(({ messages, expect: expected }) =>
      messages.filter((_, turn) => expected.some((each) => each.hard && (each.turn ?? 0) === turn)),
    ),
  );
  expect(hard.length).toBeGreaterThan(400);
  expect(hard.filter((message) => judge(message, null))).toEqual([]);
});
