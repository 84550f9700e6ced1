import { describe, expect, test } from "vitest";
import { isShortAside, type RoundBefore } from "../../src/after-turn/may-wait.js";
import type { JsonValue, MessageRecord, Step } from "../../src/domain/session.js";

/** A round that ended with this answer. */
function answered(content: string, more: { readonly asked?: string[]; readonly output?: JsonValue } = {}): RoundBefore {
  const assistant = { type: "message", turn: 1, body: { role: "assistant", content, asked: more.asked } } as unknown as MessageRecord;
  const steps = more.output === undefined ? [] : [{ type: "tool_call", output: more.output } as Step];
  return { assistant, steps };
}

describe("needs no call of its own:", () => {
  test.each(["Thanks!", "Thank you so", "ok", "👍", "…", "Merci beaucoup !", "ありがとう", "謝謝", "شكرا جزيلا", "Nut allergy!"])(
    "%s",
    (text) => {
      expect(isShortAside(text, answered("It is booked."))).toBe(true);
      expect(isShortAside(text, null)).toBe(true);
    },
  );
});

describe("is read by itself:", () => {
  test.each(["I use a wheelchair", "please book it now", "私は車椅子を使っています", `${"x".repeat(100)}`])("%s", (text) => {
    expect(isShortAside(text, answered("It is booked."))).toBe(false);
  });

  test.each(["Two seats?", "席は二つですか？", "هل تريد مقعدين؟", "Δύο θέσεις\u037e Πείτε μου."])("an answer to “%s”", (content) => {
    expect(isShortAside("yes", answered(content))).toBe(false);
  });

  test("an answer to what was to be confirmed, or to what a tool had the assistant ask", () => {
    expect(isShortAside("yes", answered("You said something of nuts.", { asked: ["m1"] }))).toBe(false);
    expect(isShortAside("yes", answered("Tell me.", { output: { status: "which_one", ask: "Say which." } }))).toBe(false);
    expect(isShortAside("yes", answered("Tell me.", { output: { status: "needs_confirmation" } }))).toBe(false);
    expect(isShortAside("yes", answered("Two found.", { output: { status: "found", events: [] } }))).toBe(true);
  });
});
