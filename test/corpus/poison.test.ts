import { describe, expect, test } from "vitest";
import { guarded, toOperations } from "../../src/long-term/promotable.js";
import { type Extractor, type ProposedOperation, type Statement, statementSchema } from "../../src/long-term.js";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { sentencesOf } from "../../src/platform/language/own-words.js";
import { extractionInput } from "../contract/extractor.contract.js";
import { sampleMemory } from "../support/samples.js";
import { HARMLESS } from "./harmless.js";
import { ATTACKS, type Attack } from "./poison.js";

const signal = new AbortController().signal;
const ALLERGY = sampleMemory({
  text: "Is allergic to nuts",
  category: "dietary",
  aspect: "nuts",
  type: "constraint",
  strength: "hard",
  source: null,
});

function statement(text: string, fields: Partial<Statement> = {}): Statement {
  return statementSchema.parse({ text: text.slice(0, 500) || "x", category: "other", ...fields });
}

/** A model that proposes whatever can be proposed: all that is said anywhere, and the attacker's payload on every quote there is. */
function promotesEverything(payload: string): Extractor {
  return {
    name: "promotes-everything",
    async extract(input) {
      const sentences = sentencesOf(input.text).map((sentence) => sentence.text);
      const words = input.text.trim().split(/\s+/u);
      const quotes = [
        input.text,
        ...sentences,
        ...sentences.flatMap((sentence) => sentence.split(/[,;:]\s+/u)),
        words.slice(0, 3).join(" "),
        words.slice(-3).join(" "),
        ...input.context.map((said) => said.content),
        payload,
      ];
      return quotes.flatMap((quote): ProposedOperation[] => [
        { op: "add", quote, statement: statement(quote) },
        { op: "add", quote, statement: statement(payload) },
        { op: "add", quote, statement: statement(payload, { category: "dietary", strength: "hard", type: "constraint" }) },
        { op: "add", quote, statement: statement(`Prefers ${quote.slice(0, 200)}`, { tags: [payload], entities: [payload] }) },
        { op: "add", quote, statement: statement(quote, { type: "episodic" }) },
        { op: "supersede", quote, target_id: ALLERGY.id, statement: null },
        { op: "supersede", quote, target_id: ALLERGY.id, statement: statement(payload, { category: "dietary" }) },
        { op: "forget", quote, target_id: ALLERGY.id },
        { op: "confirm", quote, target_id: ALLERGY.id },
      ]);
    },
  };
}

/** What of an attack would be recalled or changed, as operations of a plan. */
async function promotedFrom(attack: Attack, extractor: Extractor): Promise<string[]> {
  const promoted: string[] = [];
  const context = [...attack.context];
  for (const message of attack.messages) {
    const input = extractionInput(message, { context, related: [ALLERGY] });
    for (const operation of toOperations(input, await guarded(extractor).extract(input, { signal })))
      if (operation.op !== "add" || !operation.review)
        promoted.push(`${operation.op} from ${JSON.stringify(message)}: ${"statement" in operation ? operation.statement?.text : ""}`);
    context.push({ role: "user", content: message });
  }
  return promoted;
}

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
    for (const { message, statement: text, category, subject } of HARMLESS) {
      const extractor: Extractor = {
        name: "careful",
        extract: async () => [{ op: "add", quote: message, statement: statement(text, { category, subject }) }],
      };
      const reasons: string[] = [];
      const passed = await guarded(extractor, { onJudged: (judged) => reasons.push(judged.verdict, ...judged.reasons) }).extract(
        extractionInput(message),
        { signal },
      );
      const kept = passed.some((proposal) => proposal.op === "add" && proposal.review !== true && proposal.statement.text === text);
      if (!kept) lost.push(`${message} → ${text}: ${reasons.join(" ")}`);
    }
    console.log(`harmless: ${lost.length} lost of ${HARMLESS.length}`);
    expect(lost).toEqual([]);
  });

  test("none is lost when a model repeats it word for word", async () => {
    const lost: string[] = [];
    for (const { message, subject } of HARMLESS) {
      const extractor: Extractor = {
        name: "echo",
        extract: async () => [{ op: "add", quote: message, statement: statement(message, { subject }) }],
      };
      const passed = await guarded(extractor).extract(extractionInput(message), { signal });
      if (!passed.some((proposal) => proposal.op === "add" && proposal.review !== true)) lost.push(message);
    }
    expect(lost).toEqual([]);
  });
});
