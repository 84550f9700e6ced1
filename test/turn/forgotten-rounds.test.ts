import { describe, expect, test } from "vitest";
import { FORGOTTEN } from "../../src/domain/forgotten-words.js";
import type { Tombstone } from "../../src/ports/owner-ledger.js";
import { withoutForgotten } from "../../src/turn/forgotten-rounds.js";
import { recalled, round, step } from "../support/rounds.js";

const AT = "2026-01-02T00:00:00.000Z";
const hiding = (...messageIds: string[]): Tombstone => ({ memoryId: "Loves techno", messageIds, textHash: "", at: AT });

describe("the window after something was forgotten", () => {
  test("shows neither what was said nor who asked to forget it, nor an answer that repeats it", () => {
    const rounds = [
      round(1, { user: "I love techno.", assistant: "Noted." }),
      round(2, { user: "Forget that I love techno.", assistant: "I have forgotten: Loves techno." }),
      round(3, { user: "Any jazz?", assistant: "Here it is." }),
    ];
    const shown = withoutForgotten(rounds, [hiding("user-1", "user-2")]);
    expect(shown.map(({ user, assistant }) => [user.body.content, assistant.body.content])).toEqual([
      [FORGOTTEN, "Noted."],
      [FORGOTTEN, FORGOTTEN],
      ["Any jazz?", "Here it is."],
    ]);
    expect(rounds[0]?.user.body.content).toBe("I love techno.");
  });

  test("what was found stays, what memory told goes", () => {
    const memory = { ...step("b", 0, { memories: ["Loves techno"] }), name: "list_memories" };
    const [shown] = withoutForgotten([round(1, { steps: [step("a", 0, { events: [] }), memory] })], [hiding("user-1")]);
    expect(shown?.steps.map(({ name }) => name)).toEqual(["search_events"]);
  });

  test("an answer that was given with the memory goes where it repeats it", () => {
    const given = (turn: number, assistant: string) => {
      const one = round(turn, { assistant });
      const memory = {
        status: "ok" as const,
        write_back: "pending" as const,
        to_confirm: [],
        recalled: [recalled("Loves techno")],
        used: [],
      };
      return { ...one, assistant: { ...one.assistant, body: { ...one.assistant.body, memory } } };
    };
    const asksAgain = { ...given(3, "Techno it is."), user: round(3, { user: "Any techno tonight?" }).user };
    const shown = withoutForgotten(
      [given(1, "I went by what I know: loves techno."), given(2, "You are welcome."), asksAgain],
      [hiding("elsewhere")],
    );
    expect(shown.map(({ user, assistant }) => [user.body.content, assistant.body.content])).toEqual([
      ["question 1", FORGOTTEN],
      ["question 2", "You are welcome."],
      // As history and search say it: the user's own words of the same turn are no recital.
      ["Any techno tonight?", "Techno it is."],
    ]);
  });
});
