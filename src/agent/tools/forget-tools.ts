import { z } from "zod";
import { normalised } from "../../domain/folded-text.js";
import type { Memory } from "../../domain/memory.js";
import { contentWordsOf } from "../../platform/language/stop-words.js";
import { plainWords } from "../../platform/phrase-index.js";
import { ASKED_EVERYTHING, type Tool, type ToolContext, type ToolResult } from "../../ports/agent.js";
import { type ProposedOperation, proposedOperationSchema } from "../../ports/extraction.js";
import { leftOpen, type MemoryToolParts, memoryLine, mustRead, mustStandInMessage, quoteField, turnOf } from "./tool-turn.js";

const NEAREST = 10;
/** Of what is gone. */
const MOST_NAMED = 200;

/** The user may well mean something: theirs to say. */
const NOTHING_FOUND = "Nothing like this is remembered in these words. Look with list_memories, or ask the user what they mean.";

const target = {
  memory_id: z.string().max(64).optional(),
  what: z.string().min(1).max(500).optional().describe("what it is about"),
  quote: quoteField.optional(),
};
const forgetInput = z.strictObject({
  ...target,
  whom: z.string().min(1).max(64).optional().describe("the companion's relation or name, to forget all that is known of them"),
  everything: z.boolean().optional().describe("all of it, only when the user asks so"),
});
const noLongerInput = z.strictObject(target);

/** `forget`: takes a memory away for good; everything only where the answer before asked whether to. */
export function forgetTool(parts: MemoryToolParts): Tool<z.infer<typeof forgetInput>> {
  return {
    name: "forget",
    description:
      "Forgets a memory, or all about a companion, for good, when the user wants it remembered no more; if several fit, ask which. " +
      "Everything: the first call only asks; call again when the next message says yes.",
    parameters: forgetInput,
    maxCallsPerTurn: 5,
    run: async (input, context) => {
      mustRead(context);
      if (input.everything === true) return forgetEverything(parts, input.quote, context);
      const { whom, ...one } = input;
      const ofPerson = whom === undefined ? null : await forgetPerson(parts, whom, one, context);
      return ofPerson ?? change(parts, "forget", one.what === undefined && whom !== undefined ? { ...one, what: whom } : one, context);
    },
  };
}

/** `no_longer_true`: ends a memory, which stays in its history. */
export function noLongerTrueTool(parts: MemoryToolParts): Tool<z.infer<typeof noLongerInput>> {
  return {
    name: "no_longer_true",
    description: "Ends a memory that the user says holds no more; if several fit, ask which.",
    parameters: noLongerInput,
    maxCallsPerTurn: 5,
    run: async (input, context) => {
      mustRead(context);
      return change(parts, "end", input, context);
    },
  };
}

async function forgetEverything({ memories, inOwnWords }: MemoryToolParts, quote: string | undefined, context: ToolContext) {
  if (!context.asked?.includes(ASKED_EVERYTHING))
    return {
      output: {
        status: "ask_first",
        ask: "Nothing was forgotten. Ask the user whether everything that is remembered about them is to be forgotten for good.",
      },
    };
  mustStandInMessage(quote ?? context.userMessage.content, context, inOwnWords);
  return { output: { status: "forgotten", count: await memories.forgetAll(context.owner, { now: context.now }) } };
}

/** All that is known of somebody: what is soft is gone and named, what must hold is named and asked about. Null where nothing is. */
async function forgetPerson(
  { memories, turns, inOwnWords }: MemoryToolParts,
  whom: string,
  { what = whom, quote }: z.infer<typeof noLongerInput>,
  context: ToolContext,
): Promise<ToolResult | null> {
  if (quote !== undefined) mustStandInMessage(quote, context, inOwnWords);
  const known = await memories.list(context.owner, { limit: MOST_NAMED, ...(context.signal && { signal: context.signal }) });
  const operation: ProposedOperation = proposedOperationSchema.parse({
    op: "forget",
    subject: `companion:${whom.replace(/^companion:\s*/u, "")}`,
    about: what,
    quote: quote ?? context.userMessage.content,
  });
  const given = await turns.propose(context.owner, turnOf(context), [operation], { now: context.now, signal: context.signal });
  const forgot = known.data.filter(({ id }) => given.forgotten.includes(id)).map(({ text }) => text);
  if (given.to_confirm.length === 0) return given.forgotten.length === 0 ? null : { output: { status: "forgotten", forgot } };
  const ask = "Name these and ask whether to forget them: they stay until the user's next message says yes to that.";
  return { output: { status: "waits", ...(forgot.length > 0 && { forgot }), ...leftOpen(given), ask } };
}

async function change(
  parts: MemoryToolParts,
  op: "forget" | "end",
  input: z.infer<typeof noLongerInput>,
  context: ToolContext,
): Promise<ToolResult> {
  if (input.quote !== undefined) mustStandInMessage(input.quote, context, parts.inOwnWords);
  // The whole message, of which the checks take the guest's own words.
  const quote = input.quote ?? context.userMessage.content;
  const found = await targetOf(parts, input, context);
  if (!("id" in found)) return found;
  // An id is the model's: what is gone for good, and not asked about as what must hold is, the guest has spoken of, or was told of.
  if (op === "forget" && input.memory_id !== undefined && found.strength === "soft" && !isSpokenOf(found, context, parts))
    return { output: { status: "which_one", memories: [memoryLine(found)], ask: NOT_SPOKEN_OF } };
  const operation: ProposedOperation = proposedOperationSchema.parse({ op, target_id: found.id, quote });
  const given = await parts.turns.propose(context.owner, turnOf(context), [operation], { now: context.now, signal: context.signal });
  if (given.to_confirm.length > 0) return { output: { status: "waits", ...leftOpen(given) } };
  const done = op === "forget" ? given.forgotten.includes(found.id) : given.memories.some(({ id }) => id === found.id);
  if (!done) return { output: { status: "unchanged", ...leftOpen(given) } };
  return { output: op === "forget" ? { status: "forgotten", forgot: [found.text] } : { status: "ended", ended: found.text } };
}

const NOT_SPOKEN_OF =
  "Nothing was changed: the user's words don't speak of this. Name it to them and ask whether to forget it; call again when they say yes.";

/**
 * Whether the answer before offered a memory, by its record: then the guest's next message answers that, in any language. Else whether a
 * telling word of it stands in the guest's own words of this message, or in the answer before it.
 */
function isSpokenOf(
  { id, type, about, text, aspect, category }: Memory,
  { asked, userMessage, remembering }: ToolContext,
  { inOwnWords, isSaidIn }: MemoryToolParts,
): boolean {
  if (asked?.includes(id)) return true;
  const answer = remembering?.context.findLast(({ role }) => role === "assistant")?.content ?? "";
  // "Lives in York" is spoken of by "where I live"; that something is liked, or preferred, stands in any message.
  const said = about !== "" && type === "preference" ? about : `${about} ${text}`;
  const telling = contentWordsOf(plainWords([said, aspect, category].join(" ")));
  return telling.some(({ word }) => isSaidIn(word, answer) || inOwnWords(word, userMessage.content));
}

function isOfKind({ category, aspect }: Memory, what: string): boolean {
  return [category, aspect].some((kind) => normalised(kind) === normalised(what));
}

/** The memory that is meant; else what could be, for the model to choose by id, or to ask about. */
async function targetOf(
  { memories, inOwnWords }: MemoryToolParts,
  { memory_id, what }: z.infer<typeof noLongerInput>,
  context: ToolContext,
): Promise<Memory | ToolResult> {
  if (memory_id !== undefined) return memories.get(context.owner, memory_id, { signal: context.signal });
  if (what === undefined) return { output: { status: "which_one", ask: "Say which: memory_id, or what it is about." } };
  const found = await memories.search(context.owner, { text: what, limit: NEAREST, status: "active", signal: context.signal });
  // Named by the guest, with the words that name the thing itself: then it is that one, unless they stand for another thing's too.
  const named = found.filter(({ about }) => about !== "" && inOwnWords(about, context.userMessage.content));
  const [only, another] = named;
  if (only !== undefined && another === undefined && !found.some((other) => other !== only && inOwnWords(only.about, other.about)))
    return only;
  if (found.length === 0) return { output: { status: "nothing_found", note: NOTHING_FOUND } };
  // Or by what kind of thing it is ("my budget"). What must hold is never taken for that alone.
  const ofKind = named.length > 0 || !inOwnWords(what, context.userMessage.content) ? [] : found.filter((each) => isOfKind(each, what));
  const [kind, more] = ofKind;
  if (kind !== undefined && more === undefined && kind.strength === "soft") return kind;
  return {
    output: {
      status: "which_one",
      memories: ([named, ofKind].find((some) => some.length > 1) ?? found).map(memoryLine),
      ask:
        "Nothing was changed. Call again with the memory_id where the user's words say which one they mean; else ask them. " +
        "Where none of these is what they speak of, offer none: say that nothing like it is remembered.",
    },
  };
}
