import { createHash } from "node:crypto";
import { z } from "zod";
import type { AnyTool, Tool, ToolContext, ToolResult } from "../../agent.js";
import { commandsOf, rememberable } from "../../commands.js";
import { AppError } from "../../errors.js";
import {
  type ExtractionInput,
  type LongTermMemory,
  MEMORY_TYPES,
  type Memory,
  type MemoryOperation,
  type ProposedOperation,
  type Statement,
  statementSchema,
} from "../../long-term.js";
import { memoryIdOf } from "../../platform/ids.js";
import { asMainClause } from "../../platform/language/german-order.js";
import type { JsonObject } from "../../session.js";
import { MemoryChoices } from "./memory-choices.js";
import { matchMemory } from "./memory-match.js";

/**
 * The guards that every extractor's output passes, as operations. What they drop is not in the answer.
 * `input.context` and `input.related` are empty here.
 */
export type Promote = (input: ExtractionInput, proposals: readonly ProposedOperation[]) => readonly MemoryOperation[];

export interface MemoryToolParts {
  readonly longTerm: Pick<LongTermMemory, "apply" | "search" | "list" | "get" | "forget" | "forgetAll">;
  readonly promote: Promote;
  /** What rules read in a statement that is to be remembered; a category that must hold is so by their word too. */
  readonly read: (input: ExtractionInput) => Promise<readonly ProposedOperation[]>;
}

/** Tool ids begin here, so that they can't meet those of the write-back, which counts from 0. */
const FIRST_INDEX = 1_000;
const LISTED = 100;

/** `remember`, `forget`, `no_longer_true`, `list_memories`: what a user asks of the memory in words. */
export function memoryTools(parts: MemoryToolParts): readonly AnyTool[] {
  const choices = new MemoryChoices();
  return [remember(parts), forget(parts, choices), noLongerTrue(parts, choices), listMemories(parts)];
}

const quote = z.string().min(1).max(2_000).describe("the user's own words, copied exactly from their latest message");

const rememberInput = z.object({
  quote,
  text: statementSchema.shape.text.describe('one sentence, third person, no subject: "Prefers aisle seats"'),
  category: statementSchema.shape.category.describe(
    "genre, artist, venue, seating, budget, party_size, schedule, location, dietary, accessibility, companions, loyalty, communication, other",
  ),
  aspect: z.string().max(64).optional().describe("what of the category: row, party size, the genre itself"),
  type: z.enum(MEMORY_TYPES).optional(),
  strength: z.enum(["hard", "soft"]).optional().describe("hard: allergies, medical diets, access needs"),
  subject: z.string().max(74).optional().describe("self, or companion:<name>"),
  scope: z.enum(["standing", "trip"]).optional(),
  valid_until: z.iso.datetime({ offset: true }).optional(),
});

function remember({ longTerm, promote, read }: MemoryToolParts): Tool<z.infer<typeof rememberInput>> {
  return {
    name: "remember",
    description: "Keeps something that the user said about themselves or a companion, when they ask for it to be remembered.",
    parameters: rememberInput,
    maxCallsPerTurn: 5,
    run: async ({ quote: copied, ...fields }, context) => {
      mustKeep(context);
      inMessage(copied, context);
      const said = statementIn(copied, context.userMessage.content);
      const statement = statementSchema.safeParse({ confidence: 1, explicit: true, ...fields });
      if (!statement.success)
        throw new AppError("INVALID_REQUEST", {
          detail: "This is not a statement that can be kept.",
          hint: "subject is self or companion:<name>.",
        });
      const input = inputOf(context);
      const own = promote(input, [{ op: "add", quote: said, statement: statement.data }]);
      const better = own.length === 0 ? [] : promote(input, await betterRead(read, said, statement.data, context));
      const kept = (better.length > 0 ? better : own).map((operation) => withOwnId(operation, context));
      const waiting = kept.filter((operation) => operation.op === "add" && operation.review);
      if (kept.length === 0)
        return refused("This can't be kept: it is not the user's own statement about themselves, or it holds a secret or an instruction.");
      const applied = await longTerm.apply(context.owner, kept, { now: context.now, signal: context.signal });
      if (waiting.length === kept.length)
        return {
          output: {
            status: "needs_review",
            text: textsOf(waiting),
            note: "It is used once the user has approved it on the memories page.",
          },
        };
      if (applied.stored.length + applied.confirmed.length === 0)
        return refused("It was not kept: something newer is known, or it was forgotten before.");
      return {
        output: {
          status: applied.stored.length > 0 ? "remembered" : "known_already",
          text: textsOf(kept.filter((operation) => !waiting.includes(operation))),
        },
      };
    },
  };
}

const targetInput = {
  what: z.string().min(1).max(500).describe("what the memory is about, in the user's words"),
  memory_id: z.string().max(64).optional().describe("only after the user has chosen among several"),
};

const forgetInput = z.object({
  ...targetInput,
  everything: z.boolean().optional().describe("true only when the user asks to forget all of it"),
});

function forget({ longTerm }: MemoryToolParts, choices: MemoryChoices): Tool<z.infer<typeof forgetInput>> {
  return {
    name: "forget",
    description: "Forgets a memory for good, when the user asks for it. Say what was forgotten. If several fit, ask which one.",
    parameters: forgetInput,
    maxCallsPerTurn: 5,
    run: async (input, context) => {
      mustRead(context);
      const kinds = commandsOf(context.userMessage.content).map(({ command }) => command.kind);
      if (input.everything === true) {
        if (!kinds.includes("forget_all"))
          return refused("Only the user's own words can ask for that. Ask whether everything is to be forgotten.");
        return { output: { status: "forgotten", count: await longTerm.forgetAll(context.owner, { now: context.now }) } };
      }
      const asked = kinds.some((kind) => kind === "forget" || kind === "forget_all" || kind === "no_longer");
      const target = await targetOf(longTerm, input, asked, choices, context);
      if (!("memory" in target)) return target;
      const askedIn = input.memory_id === undefined ? [context.userMessage.id] : choices.askedIn(context);
      const gone = await longTerm.forget(context.owner, target.memory.id, { now: context.now, askedIn });
      return { output: { status: "forgotten", forgot: gone.map(({ text }) => text) } };
    },
  };
}

const noLongerInput = z.object({ ...targetInput, quote });

function noLongerTrue({ longTerm }: MemoryToolParts, choices: MemoryChoices): Tool<z.infer<typeof noLongerInput>> {
  return {
    name: "no_longer_true",
    description: "Ends a memory that the user says holds no more. It stays in their history. If several fit, ask which one.",
    parameters: noLongerInput,
    maxCallsPerTurn: 5,
    run: async (input, context) => {
      mustKeep(context);
      inMessage(input.quote, context);
      const asked = commandsOf(context.userMessage.content).some(({ command }) => command.kind === "no_longer");
      const target = await targetOf(longTerm, input, asked, choices, context);
      if (!("memory" in target)) return target;
      const { id, text } = target.memory;
      // No extraction's guard is asked: the user's own command, or their answer to the question which one, says it already.
      const operation: MemoryOperation = {
        op: "supersede",
        memory_id: ownId(id, context),
        target_id: id,
        stated_at: context.now.toISOString(),
        source: { session_id: context.sessionId, turn: context.turn, message_id: context.userMessage.id, quote: input.quote },
        statement: null,
      };
      const applied = await longTerm.apply(context.owner, [operation], { now: context.now, signal: context.signal });
      return applied.superseded.includes(id)
        ? { output: { status: "ended", ended: text } }
        : refused("It was not ended: something newer was said about it.");
    },
  };
}

const listInput = z.object({ category: z.string().max(64).optional() });

function listMemories({ longTerm }: MemoryToolParts): Tool<z.infer<typeof listInput>> {
  return {
    name: "list_memories",
    description: "What is remembered about the user, newest first.",
    parameters: listInput,
    run: async (input, context) => {
      mustRead(context);
      const page = await longTerm.list(context.owner, {
        limit: LISTED,
        status: "active",
        signal: context.signal,
        ...(input.category !== undefined && { category: input.category }),
      });
      return { output: { memories: page.data.map(memoryLine), more: page.nextCursor !== null } };
    },
  };
}

/**
 * The memory that is meant. By words only when the user's own message asks for it; by id only when the user was asked about it
 * in an earlier turn. Otherwise what could be meant, to ask the user.
 */
async function targetOf(
  longTerm: MemoryToolParts["longTerm"],
  input: { readonly what: string; readonly memory_id?: string | undefined },
  asked: boolean,
  choices: MemoryChoices,
  context: ToolContext,
): Promise<{ readonly memory: Memory } | ToolResult> {
  if (input.memory_id !== undefined && choices.mayChoose(context, input.memory_id))
    return { memory: await longTerm.get(context.owner, input.memory_id, { signal: context.signal }) };
  const found = await longTerm.search(context.owner, { text: input.what, limit: 20, status: "active", signal: context.signal });
  const match = matchMemory(input.what, found);
  if (match.kind === "one" && asked) return { memory: match.memory };
  const memories = match.kind === "one" ? [match.memory] : match.kind === "several" ? match.memories : match.near;
  if (memories.length === 0) return { output: { status: "nothing_found", note: "Nothing like this is remembered." } };
  choices.offer(context, memories, asked);
  return {
    output: {
      status: match.kind === "none" ? "not_sure" : "which_one",
      memories: memories.map(memoryLine),
      ask: "Nothing was changed. Ask the user which one is meant; after their answer call again with its memory_id.",
    },
  };
}

function memoryLine(memory: Memory): JsonObject {
  return {
    memory_id: memory.id,
    text: memory.text,
    category: memory.category,
    about: memory.subject === "self" ? "the user" : memory.subject.replace(/^companion:/, ""),
    must_hold: memory.strength === "hard",
    since: memory.stated_at.slice(0, 10),
    ...(memory.valid_until !== null && { until: memory.valid_until.slice(0, 10) }),
  };
}

function inputOf(context: ToolContext): ExtractionInput {
  return {
    owner: context.owner,
    session_id: context.sessionId,
    turn: context.turn,
    message_id: context.userMessage.id,
    text: context.userMessage.content,
    stated_at: context.now,
    time_zone: context.timeZone,
    context: [],
    related: [],
  };
}

/**
 * What rules read in the statement, where they agree on what it is about or the caller had no category for it: they know names, aspects
 * and what must hold. Empty where they don't.
 */
async function betterRead(
  read: MemoryToolParts["read"],
  said: string,
  statement: Statement,
  context: ToolContext,
): Promise<readonly ProposedOperation[]> {
  const message = context.userMessage.content;
  const found = (await read({ ...inputOf(context), text: asMainClause(said, message) })).flatMap((proposal) =>
    proposal.op === "add" ? [{ ...proposal, quote: message.includes(proposal.quote) ? proposal.quote : said }] : [],
  );
  const agrees = statement.category === "other" || found.some((proposal) => proposal.statement.category === statement.category);
  return agrees ? found : [];
}

function withOwnId(operation: MemoryOperation, context: ToolContext): MemoryOperation {
  return operation.op === "add" ? { ...operation, memory_id: ownId(operation.statement.text, context) } : operation;
}

function textsOf(operations: readonly MemoryOperation[]): string {
  return operations.flatMap((operation) => (operation.op === "add" ? [operation.statement.text] : [])).join("; ");
}

/** By what is said, so that a turn that runs again writes the same memory. */
function ownId(said: string, context: ToolContext): string {
  const index = FIRST_INDEX + createHash("sha256").update(said.normalize("NFC").toLowerCase()).digest().readUIntBE(0, 4);
  return memoryIdOf(context.owner, context.sessionId, context.userMessage.id, index);
}

/** A quote without the request around it: "remember that I'm vegan" holds "I'm vegan". */
function statementIn(copied: string, message: string): string {
  const at = message.indexOf(copied);
  const left = rememberable(message)
    .slice(at, at + copied.length)
    .trim();
  const found = [left, left.replace(/\.$/, "")].find((words) => words !== "" && message.includes(words));
  return found ?? copied;
}

function inMessage(said: string, context: ToolContext): void {
  if (!context.userMessage.content.includes(said))
    throw new AppError("INVALID_REQUEST", { detail: "The quote is not in the user's message.", hint: "Copy it exactly." });
}

function mustRead(context: ToolContext): void {
  if (context.memory === "off")
    throw new AppError("LONG_TERM_MEMORY_DISABLED", {
      detail: "This conversation is incognito: long-term memory is off.",
      hint: "Tell the user so.",
    });
}

function mustKeep(context: ToolContext): void {
  mustRead(context);
  if (context.memory === "read_only")
    throw new AppError("LONG_TERM_MEMORY_DISABLED", {
      detail: "The user asked that nothing of this be remembered.",
      hint: "Tell the user so.",
    });
}

function refused(reason: string): ToolResult {
  return { output: { status: "refused", reason } };
}
