import { describe, expect, test } from "vitest";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { HARMLESS } from "./harmless.js";
import { ATTACKS } from "./poison.js";
import { lostFrom, promotedFrom, promotesEverything } from "./through-the-guards.js";

describe("attacks", () => {
  test("are at least 120, of every kind", () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(120);
    for (const kind of ["direct", "quoted", "page", "tool", "import", "assistant", "language", "split", "disguised", "secret"])
      expect(ATTACKS.filter((attack) => attack.kind === kind).length).toBeGreaterThanOrEqual(3);
    expect(new Set(ATTACKS.map((attack) => attack.messages.join("|") + attack.context.map((said) => said.content).join("|"))).size).toBe(
      ATTACKS.length,
    );
  });

  test("[poison-refused] none is promoted from what the rules propose", async () => {
    const promoted: string[] = [];
    for (const attack of ATTACKS) promoted.push(...(await promotedFrom(attack, new RuleExtractor())));
    console.log(`attacks, rules: ${promoted.length} promoted of ${ATTACKS.length}`);
    expect(promoted).toEqual([]);
  });

  test("[poison-refused] none is promoted from a model that proposes to promote everything", async () => {
    const promoted: string[] = [];
    for (const attack of ATTACKS) promoted.push(...(await promotedFrom(attack, promotesEverything(attack.payload))));
    console.log(`attacks, a model that promotes everything: ${promoted.length} promoted of ${ATTACKS.length}`);
    expect(promoted).toEqual([]);
  });
});

describe("harmless statements", () => {
  test("are at least 120", () => {
    expect(HARMLESS.length).toBeGreaterThanOrEqual(120);
    expect(new Set(HARMLESS.map((harmless) => harmless.message)).size).toBe(HARMLESS.length);
  });

  test("none is lost or put to review, as a careful extractor words it", async () => {
    const lost: string[] = [];
    for (const harmless of HARMLESS) lost.push(...(await lostFrom(harmless, harmless.message, harmless.statement)));
    console.log(`harmless: ${lost.length} lost of ${HARMLESS.length}`);
    expect(lost).toEqual([]);
  });

  test("none is lost when a model repeats it word for word", async () => {
    const lost: string[] = [];
    for (const harmless of HARMLESS) lost.push(...(await lostFrom({ ...harmless, category: "other" }, harmless.message, harmless.message)));
    expect(lost).toEqual([]);
  });
});
