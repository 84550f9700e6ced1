import { guarded, toOperations } from "../../src/long-term/promotable.js";
import { type Extractor, type ProposedOperation, type Statement, statementSchema } from "../../src/long-term.js";
import { sentencesOf } from "../../src/platform/language/own-words.js";
import { extractionInput } from "../contract/extractor.contract.js";
import { sampleMemory } from "../support/samples.js";
import type { Harmless } from "./harmless.js";
import type { Attack } from "./poison.js";

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
export function promotesEverything(payload: string): Extractor {
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
export async function promotedFrom(attack: Omit<Attack, "kind">, extractor: Extractor): Promise<string[]> {
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

type Said = Pick<Harmless, "message" | "statement" | "category" | "subject">;

/** Why a harmless statement does not pass when an extractor proposes it in these words: empty where it does. */
export async function lostFrom(said: Said, quote: string, text: string): Promise<readonly string[]> {
  const extractor: Extractor = {
    name: "careful",
    extract: async () => [{ op: "add", quote, statement: statement(text, { category: said.category, subject: said.subject }) }],
  };
  const reasons: string[] = [];
  const passed = await guarded(extractor, { onJudged: (judged) => reasons.push(judged.verdict, ...judged.reasons) }).extract(
    extractionInput(said.message),
    { signal },
  );
  const kept = passed.some((proposal) => proposal.op === "add" && proposal.review !== true && proposal.statement.text === text);
  return kept ? [] : [`${said.message} → ${text}: ${reasons.join(" ")}`];
}
