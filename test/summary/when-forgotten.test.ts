import { expect, test } from "vitest";
import { AppError } from "../../src/errors.js";
import type { LongTermMemory } from "../../src/long-term.js";
import { whenForgotten } from "../../src/orchestrator/when-forgotten.js";
import type { Owner } from "../../src/owner.js";
import { alice, bob, strict } from "../support/session-world.js";

const NOW = { now: new Date(0) };
const APPLIED = { stored: [], confirmed: [], superseded: [], forgotten: [], dropped: 0 };

function telling(methods: Partial<LongTermMemory>): { readonly longTerm: LongTermMemory; readonly told: Owner[] } {
  const told: Owner[] = [];
  return { longTerm: whenForgotten(strict<LongTermMemory>("longTerm", methods), (owner) => told.push(owner)), told };
}

test("whoever has something forgotten, it is told once it is done", async () => {
  const { longTerm, told } = telling({
    forget: async () => [{} as never],
    forgetAll: async () => 2,
    apply: async (owner) => ({ ...APPLIED, forgotten: owner === bob ? ["m"] : [] }),
  });
  await longTerm.forget(alice, "m", NOW);
  await longTerm.forgetAll(bob, NOW);
  await longTerm.apply(alice, [], NOW);
  await longTerm.apply(bob, [], NOW);
  expect(told).toEqual([alice, bob, bob]);
});

test("nothing is told when nothing was forgotten, or the forgetting failed", async () => {
  const { longTerm, told } = telling({
    forget: async () => {
      throw new AppError("MEMORY_NOT_FOUND");
    },
    forgetAll: async () => 0,
    health: async () => ({ status: "ok" }),
  });
  await expect(longTerm.forget(alice, "m", NOW)).rejects.toMatchObject({ code: "MEMORY_NOT_FOUND" });
  await longTerm.forgetAll(alice, NOW);
  expect(await longTerm.health()).toEqual({ status: "ok" });
  expect(told).toEqual([]);
});
