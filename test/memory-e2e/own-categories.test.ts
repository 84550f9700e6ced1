import { expect, test } from "vitest";
import type { Category } from "../../src/domain/categories.js";
import type { Memory } from "../../src/domain/memory.js";
import { startWorld, tempDir } from "../e2e/world.js";

const GEAR: Category = {
  name: "gear",
  description: "what must be there for a dive",
  type: "constraint",
  strength: "hard",
  fixed: [],
  open: "the piece",
};

test("a domain's own categories decide what its memories are", async () => {
  const domain = { name: "diving", prompt: "You book dives.", tools: [], categories: [GEAR] };
  const client = (await startWorld(await tempDir(), {}, { domain })).as("ada");
  const { body } = await client.post<Memory>("/v1/memories", { text: "Needs a left-handed camera", category: "gear" });
  expect(body).toMatchObject({ category: "gear", strength: "hard", type: "constraint" });
});
