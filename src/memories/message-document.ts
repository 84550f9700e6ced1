import { wallClock } from "../platform/rendering.js";
import type { AlsoAsked, MessageToRead } from "../ports/extraction.js";

/** Known memories that a model is shown, and messages before this one, and how much of each. */
const MAX_KNOWN = 40;
const CONTEXT_MESSAGES = 6;
const CONTEXT_CHARS = 600;
/** Of the message; what is longer is kept and searched, not read. */
export const MAX_READ_CHARS = 8_000;

/** What stands beside a message that is read. */
export interface Beside {
  /** Messages that are read along, oldest first. */
  readonly earlier?: readonly MessageToRead[];
  /** Needs that it is read again for. */
  readonly again?: readonly string[];
  readonly also?: readonly AlsoAsked[];
}

/** What changes from message to message, as one JSON document: no text can end its own field. */
export function messageDocument(message: MessageToRead, { earlier = [], again = [], also = [] }: Beside = {}): string {
  const question = questionBefore(message);
  // A question that stands whole as QUESTION is not told twice.
  const context = message.context.slice(
    -CONTEXT_MESSAGES,
    question !== null && question === message.context.at(-1)?.content ? -1 : undefined,
  );
  return JSON.stringify({
    NOW: `${wallClock(message.stated_at, message.time_zone)} (${message.time_zone}), ${message.stated_at.toISOString()}`,
    KNOWN: message.known.slice(0, MAX_KNOWN).map((memory, i) => ({
      id: refOf(i),
      text: memory.text,
      category: memory.category,
      aspect: memory.aspect,
      ...(memory.condition !== "" && { condition: memory.condition }),
      ...(memory.need !== null && { need: memory.need }),
      subject: memory.subject,
      strength: memory.strength,
      ...(memory.valid_until !== null && { valid_until: memory.valid_until }),
      ...(memory.status === "review" && { waits: true }),
    })),
    CONTEXT: context.map(({ role, content }) => ({ role, content: content.slice(0, CONTEXT_CHARS) })),
    ...(earlier.length > 0 && {
      EARLIER: earlier.map((each, i) => ({
        id: earlierRefOf(i),
        SAID: wallClock(each.stated_at, each.time_zone),
        QUESTION: questionBefore(each),
        MESSAGE: each.text.slice(0, MAX_READ_CHARS),
      })),
    }),
    ...(again.length > 0 && { AGAIN: again }),
    ...(also.length > 0 && { ALSO: Object.fromEntries(also.map(({ task, how, of }) => [task, { how, of }])) }),
    QUESTION: question,
    MESSAGE: message.text.slice(0, MAX_READ_CHARS),
  });
}

/** Short names for known memories, so that a model can't make up an id: m1, m2, … Some models give the text of one instead. */
export function idByRef(message: Pick<MessageToRead, "known">): (ref: string) => string | undefined {
  const known = message.known.slice(0, MAX_KNOWN);
  const ids = new Map(known.map(({ id }, i) => [refOf(i), id]));
  const named = (ref: string) => {
    const [only, another] = known.filter(({ text }) => text === ref);
    return another === undefined ? only?.id : undefined;
  };
  return (ref) => ids.get(ref.toLowerCase()) ?? ids.get(`m${ref}`) ?? named(ref);
}

/** Short names for messages that are read along: e1, e2, … */
export function earlierRefOf(index: number): string {
  return `e${index + 1}`;
}

function questionBefore({ context }: MessageToRead): string | null {
  const last = context.at(-1);
  return last?.role === "assistant" ? last.content.slice(-CONTEXT_CHARS) : null;
}

function refOf(index: number): string {
  return `m${index + 1}`;
}
