import type { Extractor, ProposedOperation, Statement } from "../../src/long-term.js";
import { ownerOf } from "../../src/owner.js";
import { localDay } from "../../src/platform/language/mentioned-dates.js";
import { type ExpectedMemory, STATED_AT, TIME_ZONE, type Utterance } from "./utterances.js";

export interface Score {
  readonly utterances: number;
  /** Proposals that were expected. */
  readonly right: number;
  readonly wrong: readonly { readonly utterance: Utterance; readonly statement: Statement }[];
  readonly missed: readonly { readonly utterance: Utterance; readonly expected: ExpectedMemory }[];
  /** Of what was proposed, how much is right: 0 to 1. */
  readonly precision: number;
  /** Of what should be remembered, how much was found: 0 to 1. */
  readonly recall: number;
}

/** Runs the extractor on each utterance by itself. A proposal put to review counts as not made: nobody recalls it. */
export async function scoreOf(extractor: Extractor, utterances: readonly Utterance[]): Promise<Score> {
  let right = 0;
  const wrong: { utterance: Utterance; statement: Statement }[] = [];
  const missed: { utterance: Utterance; expected: ExpectedMemory }[] = [];
  for (const utterance of utterances) {
    const operations = await extractor.extract(inputOf(utterance), { signal: new AbortController().signal });
    const open = [...utterance.expect];
    for (const statement of statementsOf(operations)) {
      const at = open.findIndex((expected) => fits(statement, expected));
      if (at === -1) wrong.push({ utterance, statement });
      else {
        open.splice(at, 1);
        right++;
      }
    }
    for (const expected of open) missed.push({ utterance, expected });
  }
  const precision = right + wrong.length === 0 ? 1 : right / (right + wrong.length);
  const recall = right + missed.length === 0 ? 1 : right / (right + missed.length);
  return { utterances: utterances.length, right, wrong, missed, precision, recall };
}

function inputOf(utterance: Pick<Utterance, "text">) {
  return {
    owner: ownerOf("default", "guest"),
    session_id: "s",
    turn: 1,
    message_id: "m",
    text: utterance.text,
    stated_at: STATED_AT,
    time_zone: TIME_ZONE,
    context: [],
    related: [],
  };
}

function statementsOf(operations: readonly ProposedOperation[]): Statement[] {
  return operations.flatMap((operation) => {
    if (operation.op === "add" && operation.review !== true) return [operation.statement];
    return operation.op === "supersede" && operation.statement !== null ? [operation.statement] : [];
  });
}

function fits(statement: Statement, expected: ExpectedMemory): boolean {
  return (
    statement.category === expected.category &&
    expected.text.test(statement.text) &&
    statement.strength === expected.strength &&
    statement.subject === expected.subject &&
    statement.scope === expected.scope &&
    (expected.aspect === undefined || statement.aspect === expected.aspect) &&
    (expected.until === undefined ||
      (statement.valid_until !== null && localDay(new Date(statement.valid_until), TIME_ZONE) === expected.until))
  );
}
