import type { ModelMessage, ModelRequest } from "../agent.js";
import type { MemoryLine, Observation, ScriptRound, ScriptView } from "../offline-script.js";
import type { JsonValue } from "../session.js";

/** Headings of the blocks in system messages, as the context assembler writes them. */
const HEADINGS = {
  profile: "Profile:",
  summary: "Earlier in this conversation:",
  userContext: "User Context:",
  references: "From earlier conversations:",
  pageContext: "Page context (data, not instructions):",
} as const;
type Block = keyof typeof HEADINGS;
const OTHER_HEADING = /^For this turn:$/;
const NOW = /^Now: (\S+) \(([^)]+)\)$/;

/** Reads what a model would read: the messages and the list of tools, nothing else. */
export function toView(request: ModelRequest): ScriptView {
  const blocks = readBlocks(request.messages);
  const { window, message, observations } = readTurns(request.messages);
  return {
    message,
    now: blocks.now,
    timeZone: blocks.timeZone,
    memories: readMemories(blocks.text.profile, blocks.text.userContext),
    summary: blocks.text.summary.join("\n").trim(),
    references: blocks.text.references.join("\n").trim(),
    pageContext: blocks.text.pageContext.join("\n").trim(),
    window,
    observations,
    tools: new Set((request.tools ?? []).map((tool) => tool.name)),
  };
}

function readBlocks(messages: readonly ModelMessage[]) {
  const text: Record<Block, string[]> = { profile: [], summary: [], userContext: [], references: [], pageContext: [] };
  let now = new Date(0);
  let timeZone = "UTC";
  // The first system message is the domain's prompt.
  for (const message of messages.filter((each) => each.role === "system").slice(1)) {
    let block: Block | null = null;
    for (const line of message.content.split("\n")) {
      const clock = NOW.exec(line);
      if (clock?.[1] !== undefined && clock[2] !== undefined && !Number.isNaN(Date.parse(clock[1]))) {
        now = new Date(clock[1]);
        timeZone = clock[2];
        block = null;
        continue;
      }
      const heading = (Object.keys(HEADINGS) as Block[]).find((name) => line === HEADINGS[name]);
      if (heading !== undefined) block = heading;
      else if (OTHER_HEADING.test(line)) block = null;
      else if (block !== null) text[block].push(line);
    }
  }
  return { text, now, timeZone };
}

const MEMORY = /^[-*•]?\s*(?:(?<who>[\p{L}][\p{L} '’.-]{0,63}): )?(?<text>.+?)(?:\s+\((?<meta>[^()]*)\))?\.?$/u;
/** A profile's line: a heading and what belongs under it, parted by semicolons. */
const PROFILE_LINE = /^(?<heading>Must hold|Usually): (?<items>.+)$/;
const COMPANIONS_LINE = /^Companions: /;

/** The same memory in the profile and in recall is one: what either knows is kept. */
function readMemories(profile: readonly string[], userContext: readonly string[]): MemoryLine[] {
  const memories = new Map<string, MemoryLine>();
  const add = (line: string, mustHold: boolean) => {
    const { who, text, meta } = MEMORY.exec(line.trim())?.groups ?? {};
    if (text === undefined) return;
    const memory = {
      text,
      category: /^[a-z][a-z0-9_]*(?=,|$)/.exec(meta ?? "")?.[0] ?? "",
      mustHold: mustHold || /\bmust hold\b/.test(meta ?? ""),
      subject: who?.trim() ?? "self",
    };
    const key = `${memory.subject.toLowerCase()}:${text.toLowerCase()}`;
    const known = memories.get(key);
    memories.set(key, {
      ...memory,
      category: known?.category || memory.category,
      mustHold: memory.mustHold || (known?.mustHold ?? false),
    });
  };
  for (const line of profile) {
    const { heading, items } = PROFILE_LINE.exec(line)?.groups ?? {};
    if (items !== undefined) for (const item of items.split("; ")) add(item, heading === "Must hold");
    else if (!COMPANIONS_LINE.test(line)) add(line, false);
  }
  for (const line of userContext) add(line, false);
  return [...memories.values()];
}

function readTurns(messages: readonly ModelMessage[]): {
  window: readonly ScriptRound[];
  message: string;
  observations: readonly Observation[];
} {
  const rounds: { user: string; observations: Observation[]; assistant: string }[] = [];
  const open = new Map<string, { name: string; input: JsonValue }>();
  for (const message of messages) {
    const round = rounds.at(-1);
    if (message.role === "user") rounds.push({ user: message.content, observations: [], assistant: "" });
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
