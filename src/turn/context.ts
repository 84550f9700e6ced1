import type { JsonValue, Round, Step } from "../domain/session.js";
import { shortCallId } from "../domain/short-call-id.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { AgentInput, ModelMessage } from "../ports/agent.js";
import type { ModelImage } from "../ports/chat-model.js";
import { type ContextBlock, lastMessage, renderSummary, renderUserContext, type VolatileParts, volatileBlocks } from "./context-blocks.js";
import { cutTo } from "./cut.js";
import { inBlocks } from "./window.js";

/** All that a turn knows before the model is called. */
export interface ContextParts extends VolatileParts {
  /** The system message: the same bytes in all of a conversation's turns, the domain's in all conversations. */
  readonly prompt: string;
  /** The rolling summary of rounds that have left the window, or null. */
  readonly summary: string | null;
  /** Oldest first. Those of the prompt, which slide in blocks. */
  readonly rounds: readonly Round[];
  /** How many of the newest are the `previous_conversation`. Default: all of them. */
  readonly conversationRounds?: number;
  /** What is told of the outputs in rounds. Default: all of them. */
  readonly recap?: Recap;
  readonly question: string;
  /** Those of this message. Earlier ones are told by their number. Default: none. */
  readonly images?: readonly ModelImage[];
}

/** What later turns are told of a tool's output; `isOld`: of a turn that is far back. */
export type Recap = (tool: string, output: JsonValue, isOld?: boolean) => JsonValue;

/** Of what the caller's own tools gave, all is told: one of them may be named as a tool of the agent's. */
export function recapBeside(recap: Recap, tools: readonly { readonly name: string }[] = []): Recap {
  const callers = new Set(tools.map(({ name }) => name));
  return (tool, output, isOld) => (callers.has(tool) ? output : recap(tool, output, isOld));
}

export interface ContextBudget {
  /** Tokens that all messages together may take. What tools take beside them is no longer in it. */
  readonly maxTokens: number;
  readonly counter: TokenCounter;
}

export interface Context {
  readonly input: AgentInput;
  /** What the next turn should find unchanged, by name. What a provider caches. */
  readonly stable: Readonly<Record<StablePart, string>>;
  /** Tokens of all messages, as the counter counts them. */
  readonly tokens: number;
  /** How many of the oldest rounds were left out for the budget. They stay in the journal. */
  readonly droppedRounds: number;
  /**
   * The same by pieces, in their order. Made when it is asked for; `tokens`: where they are counted already. Rounds are long: their text is
   * the same where they are, and their own has so many `chars`.
   */
  blocks(): readonly (ContextBlock & { readonly tokens?: number; readonly chars?: number })[];
}

/** `window`: the turn that the window begins with. */
export type StablePart = "prompt" | "summary" | "window";

/** Of the budget: what summary, history, unanswered messages and page may take each. */
const LARGEST_SHARE = 0.25;

/** What a model adds for each message around its text; OpenAI's figure, rounded up. */
const TOKENS_PER_MESSAGE = 4;
/** About what a large image takes at the large providers. */
const TOKENS_PER_IMAGE = 1_500;

/**
 * Assembles what the model is given. Pure.
 *
 * Order, made for prompt caching: the one system message, the same for all users; the summary, as data; the window; and the user's message
 * last, in front of it what changes with every turn (time, recall, what waits, history, page), as data. What can be long (summary,
 * history, page) has at most a share of the budget each and is cut to it; over the budget the oldest rounds go first, whole and some at
 * once: never the message, a memory, or half of a tool call and its result.
 */
export function buildContext(given: ContextParts, budget: ContextBudget): Context {
  const parts = withinShares(given, budget);
  const summary = parts.summary === null ? "" : renderSummary(parts.summary);
  const head: ModelMessage[] = [
    ...(parts.prompt === "" ? [] : [{ role: "system" as const, content: parts.prompt }]),
    ...(summary === "" ? [] : [{ role: "user" as const, content: summary }]),
  ];
  const userContext = renderUserContext(parts.recalled, parts.now, parts.timeZone);
  const { images = [], conversationRounds = parts.rounds.length } = parts;
  const known = volatileBlocks(parts, userContext.text);
  const content = lastMessage(known, userContext.marked, parts.question);
  const tail: ModelMessage[] = [{ role: "user", content, ...(images.length > 0 && { images }) }];
  const fixed = countMessages([...head, ...tail], budget.counter);
  const measured = (round: Round, wholeFrom: number) => {
    const isOld = round.turn < wholeFrom;
    const messages = roundMessages(round, parts.recap, isOld);
    return { turn: round.turn, round, isOld, messages, tokens: countMessages(messages, budget.counter) };
  };
  const all = toldWholeFrom(parts.rounds, conversationRounds);
  const fitting = newestThatFit(parts.rounds, budget.maxTokens - fixed, (round) => measured(round, all));
  const within = fitting.length < parts.rounds.length ? inBlocks(fitting) : fitting;
  const wholeFrom = toldWholeFrom(within, conversationRounds);
  const kept = within.map((each) => (each.turn < wholeFrom && !each.isOld ? measured(each.round, wholeFrom) : each));
  return {
    input: {
      question: parts.question,
      // Blocks are for the prompt's cache alone: neither more nor fewer for it.
      previous_conversation: fitting.map(({ round }) => round).slice(Math.max(0, fitting.length - conversationRounds)),
      user_context: userContext.text,
      citable: userContext.citable,
      page_context: parts.pageContext,
      messages: [...head, ...kept.flatMap(({ messages }) => messages), ...tail],
    },
    stable: { prompt: parts.prompt, summary, window: String(kept[0]?.turn ?? 1) },
    tokens: fixed + kept.reduce((sum, { tokens }) => sum + tokens, 0),
    droppedRounds: parts.rounds.length - kept.length,
    blocks: () => [
      ...[
        { name: "prompt", text: parts.prompt },
        { name: "summary", text: summary },
        {
          name: "rounds",
          text: [kept[0], kept.at(-1)].flatMap((each) => each?.round.assistant.id ?? []).join(` ${kept.length} ${wholeFrom} `),
          tokens: kept.reduce((sum, { tokens }) => sum + tokens, 0),
          chars: kept.reduce((sum, { messages }) => sum + charsOf(messages), 0),
        },
      ].filter(({ text }) => text !== ""),
      ...known,
      { name: "question", text: parts.question },
    ],
  };
}

/** Whatever a client sends or a user once wrote leaves room for the rest. */
function withinShares(parts: ContextParts, { maxTokens, counter }: ContextBudget): ContextParts {
  const share = Math.floor(maxTokens * LARGEST_SHARE);
  const ofEachHit = Math.floor(share / Math.max(1, parts.history.length));
  const { unanswered = [], unread = [] } = parts;
  return {
    ...parts,
    summary: parts.summary === null ? null : cutTo(parts.summary, share, counter),
    history: parts.history.map((hit) => ({ ...hit, content: cutTo(hit.content, ofEachHit, counter) })),
    unread: unread.map((text) => cutTo(text, Math.floor(share / unread.length), counter)),
    unanswered: unanswered.map((text) => cutTo(text, Math.floor(share / unanswered.length), counter)),
    pageContext: parts.pageContext === null ? null : cutTo(parts.pageContext, share, counter),
  };
}

/** Oldest first. What is older than the first that does not fit is not looked at: counting takes its time. */
function newestThatFit<T extends { readonly tokens: number }>(
  rounds: readonly Round[],
  room: number,
  measured: (round: Round) => T,
): readonly T[] {
  const fitting: T[] = [];
  let left = room;
  for (const round of rounds.toReversed()) {
    const next = measured(round);
    left -= next.tokens;
    if (left < 0) break;
    fitting.push(next);
  }
  return fitting.reverse();
}

/** Rounds before the window slid that go on being told whole. */
const WHOLE_ROUNDS = 5;

/**
 * The turn before which rounds are told as old ones: once the window has slid, its oldest. Which they are changes only when it slides
 * again: then a provider has to read it anew in any case.
 */
function toldWholeFrom([first]: readonly { readonly turn: number }[], rounds: number): number {
  return first === undefined || first.turn === 1 ? 1 : first.turn + rounds - WHOLE_ROUNDS;
}

/** The names of the stable parts that differ between two turns: why a provider's cache was missed. */
export function changedParts(before: Context["stable"], after: Context["stable"]): readonly StablePart[] {
  return (["prompt", "summary", "window"] as const).filter((name) => before[name] !== after[name]);
}

/** A completed round as the model sees it again: user, tool calls with what is still told of their results, assistant. */
export function roundMessages(round: Round, recap: Recap = (_, output) => output, isOld = false): ModelMessage[] {
  const shortId = (step: Step) => shortCallId(round.turn, round.steps.indexOf(step));
  const messages: ModelMessage[] = [
    { role: "user", content: withImageNote(round.user.body) },
    ...stepMessages(round.steps, (tool, output) => recap(tool, output, isOld), shortId),
  ];
  for (const { body } of [...(round.interim ?? []), round.assistant]) messages.push({ role: "assistant", content: body.content });
  return messages;
}

/** Calls and their results, by iteration. `shortId`: for calls without a provider's state, which may name them. Default: as they are. */
export function stepMessages(
  all: readonly Step[],
  recap: Recap = (_, output) => output,
  shortId: (step: Step) => string = ({ call_id: id }) => id,
): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const steps of byIteration(all)) {
    const idOf = steps[0]?.provider === undefined ? shortId : ({ call_id: id }: Step) => id;
    messages.push({
      role: "assistant",
      content: steps[0]?.thought ?? "",
      tool_calls: steps.map((step) => ({ id: idOf(step), name: step.name, arguments: JSON.stringify(step.input) })),
      ...(steps[0]?.provider !== undefined && { provider: steps[0].provider }),
    });
    for (const step of steps) {
      messages.push({
        role: "tool",
        tool_call_id: idOf(step),
        content: JSON.stringify(step.error === null ? recap(step.name, step.output) : { error: step.error }),
      });
    }
  }
  return messages;
}

/** An image costs what a long conversation does: it is shown in its own turn, and later told of. */
function withImageNote({ content, images = [] }: Round["user"]["body"]): string {
  if (images.length === 0) return content;
  return `${content}\n\n[${images.length === 1 ? "1 image" : `${images.length} images`}]`;
}

function byIteration(steps: readonly Step[]): Step[][] {
  const groups = new Map<number, Step[]>();
  for (const step of steps) {
    const group = groups.get(step.iteration);
    if (group) group.push(step);
    else groups.set(step.iteration, [step]);
  }
  return [...groups.values()];
}

function charsOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

function countMessages(messages: readonly ModelMessage[], counter: TokenCounter): number {
  let tokens = 0;
  for (const message of messages) {
    tokens += TOKENS_PER_MESSAGE + counter.count(message.content);
    if (message.role === "user") tokens += TOKENS_PER_IMAGE * (message.images?.length ?? 0);
    if (message.role === "assistant" && message.tool_calls) tokens += counter.count(JSON.stringify(message.tool_calls));
  }
  return tokens;
}
