import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Citations } from "../../src/agent/citations.js";
import { CITED_MARKS } from "../../src/ports/context-headings.js";
import { openDoor } from "../support/door.js";
import { parseEvents } from "../support/http-client.js";

function shownOf(deltas: readonly string[], ids: readonly string[]) {
  const citations = new Citations(ids);
  const shown = deltas.map((delta) => citations.take(delta));
  return { text: shown.join("") + citations.end(), cited: [...citations.cited] };
}

describe("marks in a model's text", () => {
  test.each([
    ["Jazz it is.\n[m1]", "Jazz it is.", ["a"]],
    ["Jazz it is. [m1][m2]\n", "Jazz it is.", ["a", "b"]],
    ["You like jazz [m1, m2], so: Cellar Night", "You like jazz, so: Cellar Night", ["a", "b"]],
    ["None of mine [m7].", "None of mine.", []],
    ["See [menu] and [m", "See [menu] and [m", []],
    ["[Ref #1] and [m1]", "[Ref #1] and", ["a"]],
    ["[m1]", "", ["a"]],
  ])("%j is shown as %j", (said, text, cited) => {
    expect(shownOf([said], ["a", "b"])).toEqual({ text, cited });
    expect(shownOf([...said], ["a", "b"])).toEqual({ text, cited });
  });

  test("where nothing is marked, text passes as it is, as it comes", () => {
    expect(shownOf(["Seat [m1] is ", "free. "], [])).toEqual({ text: "Seat [m1] is free. ", cited: [] });
  });

  test("no mark is shown, and all else is, wherever the stream is cut", () => {
    const piece = fc.constantFrom("[m1]", "[m2, m1]", " ", "\n", "words", "m1", "[x]", "1]");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat({ max: 30 }), { maxLength: 6 }), (pieces, cuts) => {
        const said = pieces.join("");
        const at = [0, ...cuts, said.length].toSorted((x, y) => x - y);
        const deltas = at.slice(1).map((end, index) => said.slice(at[index], end));
        const { text } = shownOf(deltas, ["a", "b"]);
        expect(text).not.toMatch(/\[m\d/);
        expect(text.replaceAll(/\s/g, "")).toBe(said.replace(CITED_MARKS, "").replaceAll(/\s/g, ""));
      }),
    );
  });
});

test("[used-is-what-shaped] what the model cites has shaped the answer; no mark reaches the guest, the journal or a later prompt", async () => {
  const { url, maitred, model } = await openDoor([{ text: [..."You like jazz [m1], then.\n[m1]"] }, { text: "Good night." }]);
  const ada = maitred.for({ user: "ada" });
  const jazz = await ada.memories.add("Prefers jazz concerts");
  const response = await fetch(`${url}/chat`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-User-Id": "ada" },
    body: JSON.stringify({ message: "Which jazz concerts do I prefer?", stream: true }),
  });
  const body = await response.text();
  expect(body).not.toContain("[m1]");
  const events = parseEvents(body);
  const answer = events.at(-1)?.data as { session_id: string };
  expect(answer).toMatchObject({ message: { content: "You like jazz, then." }, memory: { used: [jazz.id] } });
  expect(JSON.stringify((await ada.sessions.thread(answer.session_id)).steps)).not.toContain("[m1]");
  await ada.chat("Thanks!", { sessionId: answer.session_id });
  expect(JSON.stringify(model.requests.at(-1)?.messages.slice(1, -1))).not.toContain("[m1]");
});
