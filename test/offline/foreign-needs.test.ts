import { expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../src/concierge/categories.js";
import { check } from "../../src/memories/checks/check.js";
import { messageOf } from "../reading/message.js";
import { NEEDS, standInReader } from "../support/stand-in.js";

const reader = standInReader();
const options = { reader: "stand-in", categories: CONCIERGE_CATEGORIES, needs: NEEDS };
const asked = async (text: string) => {
  const message = messageOf(text);
  const reading = await reader.read(message, { signal: AbortSignal.timeout(10_000) });
  return check(message, reading, options).operations.map(({ waits, statement }) => [statement?.need, statement?.text, waits]);
};

test.each([
  ["えびアレルギーがあります", "no_shellfish", "No shellfish"],
  ["mam alergię na orzechy", "no_nuts", "No nuts"],
  ["Olen vegaani, en syö pähkinä", "no_nuts", "No nuts"],
  ["tekerlekli sandalye kullanıyorum", "step_free", "Step free"],
])("a need in a language that it doesn't read is asked about by its name, and not lost: %s", async (text, need, name) => {
  expect(await asked(text)).toContainEqual([need, name, "unsure"]);
});

test.each(["とても静かな席をお願いします", "czy jest tu winda i schody?", "えびの店はありますか？"])(
  "what names no need, or asks, gives nothing: %s",
  async (text) => {
    expect(await asked(text)).toEqual([]);
  },
);
