import { expect, test } from "vitest";
import { cardsAsNamed } from "../../packages/concierge/src/card-order.js";
import { conciergeScript } from "../../packages/concierge/src/offline-script.js";
import { openConcierge } from "../../packages/concierge/src/open-concierge.js";
import { OfflineModel } from "../../packages/offline/src/offline-model.js";
import type { Element } from "../../src/domain/session.js";
import { ConstraintGate } from "../../src/gate/constraint-gate.js";
import { silentLogger } from "../../src/platform/logger.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { Conversation, recalled } from "../support/conversation.js";

const NOW = new Date("2026-03-11T10:00:00Z");

function card(id: string, title: string, day: string, time = "19:30"): Element {
  return { id, type: "event_card", name: title, content: JSON.stringify({ title, day, time }), display: "inline" };
}
const ids = (elements: readonly Element[]) => elements.map(({ id }) => id);

test("cards come in the order in which the answer names their events, each once", () => {
  const [a, b, c] = [
    card("a", "Tin Bear", "Saturday 14 March"),
    card("b", "Salt", "Friday 13 March"),
    card("c", "Tin Bear", "Sunday 15 March"),
  ];
  const answer = "1. Tin Bear, Sunday 15 March\n2. Salt, Friday 13 March\n3. Tin Bear, Saturday 14 March";
  expect(ids(cardsAsNamed(answer, [a, b, c, a]))).toEqual(["c", "b", "a"]);
});

test("cards that are not named follow, other elements keep their places, and what is no card's content is taken by its name", () => {
  const reference: Element = { id: "r", type: "text", name: "Ref #1", content: "said", display: "side" };
  const broken: Element = { id: "x", type: "event_card", name: "Winter Letters", content: "{", display: "inline" };
  const [a, b] = [card("a", "Tin Bear", "Saturday 14 March"), card("b", "Salt", "Friday 13 March")];
  expect(ids(cardsAsNamed("Winter Letters, and Salt on Friday 13 March.", [a, reference, b, broken]))).toEqual(["b", "r", "x", "a"]);
});

test("of cards that are not named, what breaks a need comes last", () => {
  const breaking: Element = {
    ...card("b", "Salt", "Friday 13 March"),
    content: JSON.stringify({ title: "Salt", breaks: ["not without nuts"] }),
  };
  expect(ids(cardsAsNamed("Here you are.", [breaking, card("a", "Tin Bear", "Saturday 14 March")]))).toEqual(["a", "b"]);
  expect(ids(cardsAsNamed("Salt, with nuts.", [card("a", "Tin Bear", "Saturday 14 March"), breaking]))).toEqual(["b", "a"]);
});

test("the concierge's numbered list and its cards agree, and the sentence after the list is no part of its last item", async () => {
  const domain = await openConcierge({
    engine: new MemoryEngine(),
    gate: new ConstraintGate({ needs: { needs: async () => [] }, writtenBack: async () => true, logger: silentLogger }),
  });
  try {
    const guest = new Conversation({
      domain,
      model: new OfflineModel({ script: conciergeScript }),
      now: NOW,
      memories: [
        recalled("Loves theatre", "genre"),
        recalled("Prefers jazz concerts", "genre"),
        recalled("Likes opera", "genre"),
        recalled("Needs step-free access", "accessibility", { strength: "hard" }),
      ],
    });
    const { content, elements } = await guest.say("What would you suggest for this month?");
    const listed = content.split("\n").flatMap((line) => /^\d+\. (.+?) \(/.exec(line)?.[1] ?? []);
    expect(listed.length).toBeGreaterThan(2);
    const arranged = domain.arrange?.(content, elements) ?? [];
    expect(arranged.slice(0, listed.length).map(({ name }) => name)).toEqual(listed);
    expect(ids(arranged.slice(0, listed.length))).not.toEqual(ids(elements.slice(0, listed.length)));
    expect(content).toMatch(/\n\d+\. [^\n]+\n\nTell me which one/);
  } finally {
    await domain.close?.();
  }
});
