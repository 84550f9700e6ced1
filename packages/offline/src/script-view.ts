import type { JsonValue, MemoryLine, ModelMessage, ModelRequest, Observation, ScriptRound, ScriptView, WaitingLine } from "maitred";
import {
  ASKED_ENOUGH,
  ASKED_NOT_TO_KEEP,
  aheadOfUtcMs,
  CONTEXT_HEADINGS,
  isSummary,
  MEMORY_IS_OFF,
  MESSAGE_BEGINS,
  messageIn,
  NOW_BEGINS,
  SUMMARY_ENDS,
  unmarked,
} from "maitred/stand-in";
import { besidesKeepOut, commandsOf } from "./memory-commands.js";

type Block = keyof typeof CONTEXT_HEADINGS;
/** Day and hour as the clocks of the zone show them. */
const NOW = /^\p{L}+ (?<day>\d{1,2} \p{L}+ \d{4}), (?<hour>\d\d:\d\d) (?<timeZone>[^\s;]+)(?:;|$)/u;

/** What the stand-in reads of a message: its patterns are over words, and a guest's wish stands at the begin. */
const MAX_READ_CHARS = 2_000;

/** Reads what a model would read: the messages and the list of tools, nothing else. */
export function toView(request: ModelRequest): ScriptView {
  const blocks = readBlocks(request.messages);
  const { window, message, observations } = readTurns(request.messages);
  const commands = commandsOf(message);
  return {
    message,
    commands: commands.map(({ command }) => command),
    request: besidesKeepOut(message, commands),
    waiting: readWaiting(blocks.text.toConfirm),
    now: blocks.now,
    timeZone: blocks.timeZone,
    memoryIsOff: blocks.memoryIsOff,
    memories: readMemories(blocks.text.userContext),
    summary: blocks.text.summary.join("\n").trim(),
    references: blocks.text.references.join("\n").trim(),
    pageContext: blocks.text.pageContext.join("\n").trim(),
    window: window.map((round) => ({ ...round, told: asksOfMemory(round.user) ? "" : round.user })),
    observations,
    tools: new Set(request.toolChoice === "none" ? [] : (request.tools ?? []).map((tool) => tool.name)),
  };
}

/** A wish to forget or to keep out tells nothing; what is to be remembered does. */
function asksOfMemory(said: string): boolean {
  return commandsOf(said).some(({ command }) => command.kind !== "remember");
}

function readBlocks(messages: readonly ModelMessage[]) {
  const text = Object.fromEntries(Object.keys(CONTEXT_HEADINGS).map((name) => [name, []])) as unknown as Record<Block, string[]>;
  let now = new Date(0);
  let timeZone = "UTC";
  let memoryIsOff = false;
  const sent = messages.findLast((each) => each.role === "user")?.content ?? "";
  const context = sent.slice(0, sent.length - messageIn(sent).length);
  for (const content of [...messages.filter(isSummary).map((each) => each.content), context]) {
    let block: Block | null = null;
    for (const line of content.split("\n")) {
      const clock = line.startsWith(`${NOW_BEGINS} `) ? clockIn(line.slice(NOW_BEGINS.length + 1)) : null;
      if (clock !== null) {
        ({ now, timeZone } = clock);
        block = null;
        continue;
      }
      // Data stands on lines that begin with a hyphen.
      if (line === MEMORY_IS_OFF) memoryIsOff = true;
      const heading = (Object.keys(CONTEXT_HEADINGS) as Block[]).find((name) => line === CONTEXT_HEADINGS[name]);
      if (heading !== undefined) block = heading;
      else if (line === MESSAGE_BEGINS || line === SUMMARY_ENDS) block = null;
      else if (block !== null) text[block].push(line.replace(/^- /, ""));
    }
  }
  return { text, now, timeZone, memoryIsOff };
}

/** The instant, to the minute. */
function clockIn(told: string): { readonly now: Date; readonly timeZone: string } | null {
  const { day, hour, timeZone } = NOW.exec(told)?.groups ?? {};
  const shown = Date.parse(`${day} ${hour} UTC`);
  if (timeZone === undefined || Number.isNaN(shown)) return null;
  // What the zone is ahead of UTC by is known of an instant: that of the hour in UTC is at most a day off.
  const near = new Date(shown - aheadOfUtcMs(new Date(shown), timeZone));
  return { now: new Date(shown - aheadOfUtcMs(near, timeZone)), timeZone };
}

/** `<id>: <text> (<category>, must hold)`. */
const WAITING = /^(?<id>[\w-]{1,64}): (?<text>.+?)(?:\s+\((?<meta>[^()]*)\))?$/u;

function readWaiting(lines: readonly string[]): WaitingLine[] {
  return lines.flatMap((line) => {
    const { id, text, meta = "" } = WAITING.exec(line.trim())?.groups ?? {};
    if (id === undefined || text === undefined) return [];
    return [
      { id, text, ...(meta.includes(ASKED_NOT_TO_KEEP) && { offRecord: true }), ...(meta.endsWith(ASKED_ENOUGH) && { askedEnough: true }) },
    ];
  });
}

const MEMORY = /^[-*•]?\s*(?:(?<who>[\p{L}][\p{L} '’.-]{0,63}): )?(?<text>.+?)(?:\s+\((?<meta>[^()]*)\))?\.?$/u;
/** Two lines of one text are one memory. */
function readMemories(lines: readonly string[]): MemoryLine[] {
  const memories = new Map<string, MemoryLine>();
  for (const line of lines) {
    const { mark, line: told } = unmarked(line.trim());
    const { who, text, meta } = MEMORY.exec(told)?.groups ?? {};
    if (text === undefined) continue;
    const subject = who?.trim() ?? "self";
    const key = `${subject.toLowerCase()}:${text.toLowerCase()}`;
    const mustHold = /\bmust hold\b/.test(meta ?? "") || (memories.get(key)?.mustHold ?? false);
    memories.set(key, {
      text,
      category: /^[a-z][a-z0-9_]*(?=,|$)/.exec(meta ?? "")?.[0] ?? "",
      mustHold,
      subject,
      mark: (memories.get(key)?.mark ?? "") + mark,
    });
  }
  return [...memories.values()];
}

function readTurns(messages: readonly ModelMessage[]): {
  window: readonly Omit<ScriptRound, "told">[];
  message: string;
  observations: readonly Observation[];
} {
  const rounds: { user: string; observations: Observation[]; assistant: string }[] = [];
  const open = new Map<string, { name: string; input: JsonValue }>();
  for (const message of messages) {
    const round = rounds.at(-1);
    if (isSummary(message)) continue;
    if (message.role === "user")
      rounds.push({ user: messageIn(message.content).slice(0, MAX_READ_CHARS), observations: [], assistant: "" });
    else if (round === undefined) continue;
    else if (message.role === "assistant") {
      if (message.tool_calls === undefined) round.assistant = message.content;
      for (const call of message.tool_calls ?? []) open.set(call.id, { name: call.name, input: parsed(call.arguments) });
    } else if (message.role === "tool") {
      const call = open.get(message.tool_call_id);
      if (call !== undefined) round.observations.push({ ...call, output: parsed(message.content) });
    }
  }
  const current = rounds.pop();
  return { window: rounds, message: current?.user ?? "", observations: current?.observations ?? [] };
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
