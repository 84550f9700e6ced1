import { statementSchema } from "../domain/memory.js";
import { WordList, wordsIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { CheckedOperation, CheckedReading } from "./checked-operation.js";
import { needsNamedIn } from "./checks/borne-out.js";
import { broughtAlong } from "./checks/brought-along.js";
import { textOutside } from "./checks/spans.js";

/** Made once for a domain. */
const LISTS = new WeakMap<readonly string[], WordList>();

/** Whether the guest's own words ask, in one of the plain forms, that their message is not kept. */
export function asksNotToKeep(message: string, forms: readonly string[]): boolean {
  if (forms.length === 0) return false;
  const list = LISTS.get(forms) ?? new WordList(forms);
  LISTS.set(forms, list);
  return list.in(wordsIn(ownWordsOf(message))) !== -1;
}

/** Behind the operations of any reader. */
const FIRST_INDEX = 900;

/** The reading of a message that is off the record, whatever its reader made of that; with the needs that its own words name. */
export function offTheRecord(message: string, reading: CheckedReading, needs: readonly Need[]): CheckedReading {
  const seen = new Set(reading.operations.map(({ statement }) => statement?.need));
  const unseen = [...needsNamedIn(ownWordsOf(message), needs)].filter((name) => !seen.has(name));
  const named = unseen.map(
    (need, place): CheckedOperation => ({
      op: "add",
      index: FIRST_INDEX + place,
      target_id: null,
      quote: "",
      statement: statementSchema.parse({ text: need, category: "other", type: "constraint", strength: "hard", need }),
      waits: "off_record",
      brought_along: false,
    }),
  );
  return { ...reading, operations: [...reading.operations, ...named], off_record: reading.off_record ?? "this" };
}

function ownWordsOf(message: string): string {
  return textOutside(message, { start: 0, end: message.length }, broughtAlong(message));
}
