import { describe, expect, test } from "vitest";
import { readReply } from "../../packages/offline/src/script/reply.js";

/** What a guest says to a booking that was stopped, and whether it tells to make it all the same. */

const PARTLY = [
  "yes, but not the peanuts",
  "Yes, if it is vegan",
  "Yes but only the first one",
  "ok, but no nuts please",
  "Book it if they have a ramp",
  "Ja, aber ohne Nüsse",
  "Oui, mais pas le vin",
  "sí, pero sin gluten",
];

const NOT_PARTLY = [
  "No",
  "No, not the peanuts",
  "Don't book it",
  "Yes",
  "But yes, book it",
  "yes, is it vegan?",
  "Not if it is late",
  "no problem",
];

describe("a yes that says more", () => {
  test.each(PARTLY)("is neither a yes nor a no: %s", (words) => {
    expect(readReply(words)).toMatchObject({ partly: true, yes: false, no: false, override: false });
  });
  test.each(NOT_PARTLY)("is not: %s", (words) => {
    expect(readReply(words).partly).toBe(false);
  });
});

const NO_OVERRIDE = [
  "Never mind that, show me something else.",
  "Never mind the comedy, I'll look elsewhere.",
  "Never mind that.",
  "OK, never mind that, thanks.",
  "We'll manage to find something else, thanks.",
  "We'll manage without it.",
  "I'll manage on my own, thanks",
  "I accept that it isn't possible.",
  "OK, I accept that.",
  "I'd still go for something step-free.",
  "I still want it to be step-free",
  "I still want a ramp",
  "Is there any way you could find one with a ramp?",
  "Is there any way to book it?",
  "Can we book it anyway?",
  "What if I book it anyway?",
  "what would happen if we took it anyway",
  "Should I take it anyway",
  "Cancel it, I didn't want it anyway.",
  "I never wanted it anyway",
  "No, don't. I can't do stairs anyway.",
  "Don't book it anyway",
  "Please do not book it regardless",
  "Even so, no.",
  "Thanks anyway",
  "Okay, thanks anyway.",
  "Yes, thanks anyway",
  "That's fine anyway",
  "Even though it's a pity, that's fine",
  "OK, we'll manage, no problem",
  "Anyway, yes, what is on in Vienna",
  "Book another one anyway",
  "Book it anyway but in the stalls",
  "Book it anyway if they have a ramp",
  "Book it anyway. No wait.",
  "Book it anyway? Never!",
  "My wife told me to book it anyway",
  "I know that nobody could book it anyway",
  "I know you can't book it anyway",
  "I know, leave it",
  "They're all the same, show me others",
  "In spite of that I would rather stay at home",
  "Ignore that",
  "Ignore my last message",
  "yes",
  "ok",
  "Trotzdem danke, dann nicht.",
  "Trotzdem danke",
  "Ich will es trotzdem nicht",
  "Nein, trotzdem nicht",
  "Soll ich es trotzdem buchen?",
  "Merci quand même",
  "Non, pas quand même",
  "Je ne le veux pas quand même",
  "Laisse tomber, merci quand même",
  "Gracias de todos modos",
  "No lo quiero de todos modos",
  "De todas formas no puedo subir escaleras",
  "Grazie lo stesso",
  "Non lo voglio comunque",
  "Comunque, cerca qualcos'altro",
  "Obrigado mesmo assim",
  "Mesmo assim não, obrigada",
];

const OVERRIDES = [
  "Book it anyway",
  "Please book it anyway.",
  "Book them anyway, thanks",
  "Just book it anyway!",
  "I know, book it all the same",
  "I understand. Go ahead regardless.",
  "Go ahead and book it anyway",
  "Still book it please",
  "I'd still like to book it",
  "I accept the risk, go ahead",
  "It doesn't matter, book it anyway",
  "Buch es trotzdem",
  "Bitte trotzdem buchen",
  "Réservez-le quand même",
  "Resérvalo de todos modos",
  "Prenotalo lo stesso",
];

const NOT_NOTHING = [
  "No nothing, stop",
  "Nothing else, thanks",
  "Nothing, thanks",
  "I want nothing",
  "None of these",
  "There is nothing I like",
  "No allergies, just a wheelchair",
  "Nothing special, except for the nuts",
  "Nothing to mind?",
  "No needs, no booking",
  "nichts, danke",
  "Nichts davon",
  "rien, laisse tomber",
  "rien ne me plaît",
  "nada, déjalo",
  "niente, lascia stare",
  "nada, deixa estar",
  "no",
];

const NOTHING = [
  "There is nothing to mind",
  "There's nothing to mind, book it",
  "Nothing special",
  "No restrictions",
  "No special needs, thank you",
  "We have no allergies or restrictions",
  "Nichts Besonderes",
  "Non, rien de particulier",
  "Nada en especial, gracias",
  "Niente di particolare",
];

const NO_YES = ["Okay, I'll look elsewhere", "Great, what else is on", "OK, I can't make it then", "Sure, I'll think about it"];

describe("words that tell to book in spite of what stands against it", () => {
  test.each(OVERRIDES)("%j does", (words) => expect(readReply(words)).toMatchObject({ override: true, no: false }));
  test.each(NO_OVERRIDE)("%j does not", (words) => expect(readReply(words).override).toBe(false));
  test("nor does any of them with a question mark, or in a long story", () => {
    for (const words of OVERRIDES) {
      expect(readReply(`${words.replace(/[.!]$/, "")}?`).override).toBe(false);
      expect(readReply(`${words} ${"and so on ".repeat(10)}`).override).toBe(false);
    }
  });
});

describe("words that say that there is nothing to mind", () => {
  test.each(NOTHING)("%j does", (words) => expect(readReply(words)).toMatchObject({ nothingToMind: true, no: false }));
  test.each(NOT_NOTHING)("%j does not", (words) => expect(readReply(words).nothingToMind).toBe(false));
});

test.each(NO_YES)("%j is no yes", (words) => expect(readReply(words).yes).toBe(false));
