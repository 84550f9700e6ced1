import type { AnyTool, Domain, JsonObject, JsonValue, OfflineScript, ScriptMove, ScriptView } from "maitred";
import { WordList, wordsIn } from "maitred/stand-in";
import { z } from "zod";
import { languageIn } from "../reading/language.js";
import { isOff } from "./memory-moves.js";
import { MEMORY_OFF, memoriesReply, NOT_KEPT, notedAs } from "./memory-replies.js";
import { type MemoryTalk, memoryTalk } from "./memory-talk.js";
import { callThen, NOTHING_CANCELLED, say } from "./moves.js";
import { companionsIn } from "./party-words.js";
import { asksToCancel, deniesCancelling, onlyDeniesCancelling, readReply, reportsCancelling, takesBackAnother } from "./reply.js";

/**
 * Plays any domain where no model is connected: calls the tools whose words a message has, shows what they gave, and goes on only with a
 * plain yes. It settles what waits and does what is asked of the memory as the concierge's script does; all else it can't understand, and
 * says so.
 */
export function domainScript({ name, tools, needs = [] }: Pick<Domain, "name" | "tools" | "needs">): OfflineScript {
  const played = tools.flatMap((tool) => (tool.offline === undefined ? [] : [{ tool, list: new WordList(tool.offline.words) }]));
  const memory = memoryTalk(needs);
  const named = needs.map(({ words = [] }) => ({ list: new WordList(words) }));
  const script = { memory, played, listed: tools.find(({ looksUp }) => looksUp?.bound === true), named };
  return {
    name: `${name}, by rules`,
    next: (view) => memory.asking(memory.settle(view) ?? memory.command(view) ?? memory.choice(view) ?? requested(view, script), view),
  };
}

interface Script {
  readonly memory: MemoryTalk;
  readonly played: readonly { readonly tool: AnyTool; readonly list: WordList }[];
  /** Lists what is bound. */
  readonly listed: AnyTool | undefined;
  /** Words for each of the domain's needs. */
  readonly named: readonly Named[];
}

interface Named {
  readonly list: WordList;
}

function requested(view: ScriptView, script: Script): ScriptMove {
  if (view.commands[0]?.kind === "do_not_remember") return say(NOT_KEPT);
  const words = wordsIn(view.message);
  const open = openCall(view);
  if (open !== undefined) {
    const { yes, no, override } = readReply(view.message);
    const { agreed: _agreed, anyway: _anyway, ...input } = open.input;
    if (yes || override) {
      const answer = override ? { anyway: view.message } : { agreed: view.message };
      return callThen(view, { name: open.name, arguments: { ...input, ...answer } }, (output) => told(output, open.shown));
    }
    if (no && words.length <= MOST_WORDS_OF_A_NO && !takesBackAnother(view.message)) return say("Then I leave it as it is.");
  }
  if (onlyDeniesCancelling(view.message)) return say(NOTHING_CANCELLED);
  const endsNone = deniesCancelling(view.message) || reportsCancelling(view.message);
  const [best] = script.played
    .map(({ tool, list }) => ({ tool, place: list.in(words) }))
    .filter(({ place, tool }) => place !== -1 && view.tools.has(tool.name) && !(endsNone && tool.ends !== undefined))
    .toSorted((a, b) => rankOf(b.tool) - rankOf(a.tool));
  const played = best?.tool ?? (asksToCancel(view.message) ? endingIn(view, script) : undefined);
  if (played !== undefined) {
    const input = played.offline?.input?.(view.message, { companions: companionsIn(view.message) }) ?? {};
    return callThen(view, { name: played.name, arguments: input }, (output) => told(output));
  }
  if (asksToCancel(view.message)) return say(`Nothing is cancelled: I can't do that here.${wordsOf(script)}`);
  const asked = script.named.filter(({ list }) => list.in(words) !== -1);
  if (asked.length > 0 && !view.message.includes("?")) return noted(view, script);
  // "Do you have a child seat?" asks of the catalogue.
  if (asked.length > 0 && languageIn(view.message).first.in(words) !== -1) return recited(view, asked);
  return say(helpOf(script, isOff(view)));
}

/** The one tool that takes back: where no tool's own words stand in a message, any that ask for a cancellation call it. */
function endingIn(view: ScriptView, { played }: Script): AnyTool | undefined {
  const [only, another] = played.filter(({ tool }) => tool.ends !== undefined && view.tools.has(tool.name));
  return another === undefined ? only?.tool : undefined;
}

const MOST_WORDS_OF_A_NO = 6;

/** What takes back says so ("cancel my booking"), and what binds comes before what looks up. */
function rankOf({ ends, binds }: AnyTool): number {
  return ends !== undefined ? 2 : binds === undefined ? 0 : 1;
}

const shownSchema = z.looseObject({ status: z.enum(["shown", "stopped"]), shown: z.string() });

/** What the answer before showed, and a yes may do. */
function openCall({ window }: ScriptView): { readonly name: string; readonly input: JsonObject; readonly shown: string } | undefined {
  const calls = window.at(-1)?.observations ?? [];
  return calls
    .flatMap(({ name, input, output }) => {
      const { data } = shownSchema.safeParse(output);
      return data === undefined ? [] : [{ name, input: input as JsonObject, shown: data.shown }];
    })
    .at(-1);
}

/** What is known of needs that a question names. */
function recited(view: ScriptView, asked: readonly Named[]): ScriptMove {
  if (isOff(view)) return say(MEMORY_OFF);
  const known = view.memories.filter(({ text }) => asked.some(({ list }) => list.in(wordsIn(text)) !== -1));
  return say(memoriesReply(null, known, { what: "about that" }));
}

/** A need may stand against what is booked already. */
function noted(view: ScriptView, { listed, memory }: Script): ScriptMove {
  if (isOff(view)) return say(MEMORY_OFF);
  const reply = `${notedAs(memory.understood(view.message)) || "I keep what I understand of this."} ${ASK_ME}`;
  if (listed === undefined || !view.tools.has(listed.name)) return say(reply);
  return callThen(view, { name: listed.name, arguments: {} }, (output) => {
    const broken = itemsIn(output).filter((item) => [item.breaks, item.if_along].some((names) => namesIn(names).length > 0));
    return broken.length === 0 ? reply : [reply, "What stands against it now:", ...broken.map(lineOf)].join("\n");
  });
}

const ASK_ME = "Ask me what I know about you to see what I keep.";

function helpOf(script: Script, off: boolean): string {
  const can = wordsOf(script);
  const keeps = off ? "" : " What you tell me of yourself I keep; ask me what I know about you.";
  return `No language model is connected, so I understand little.${can}${keeps} Set OPENAI_API_KEY or OPENAI_BASE_URL to connect a model.`;
}

/** What it can be asked for, as a sentence. */
function wordsOf({ played }: Script): string {
  const words = played.map(({ tool }) => `“${tool.offline?.words[0]}”`);
  return words.length === 0 ? "" : ` I go by words such as ${words.join(", ")}.`;
}

const outputSchema = z.looseObject({
  status: z.string().optional(),
  shown: z.string().default(""),
  conflicts: z.array(z.string()).default([]),
  reminders: z.array(z.string()).default([]),
  unchecked: z.string().default(""),
  candidates: z.array(z.string()).default([]),
});

/** What a tool gave, in plain words. `agreed`: what the guest was shown, where they agreed to it. */
function told(output: JsonValue, agreed?: string): string {
  const { data } = outputSchema.safeParse(output);
  switch (data?.status) {
    case "shown":
      return [`${data.shown}.`, ...data.reminders, "Say yes, and it is done. Shall I go ahead?"].join("\n");
    case "stopped":
      return [
        `${data.shown}.`,
        ...data.conflicts,
        data.unchecked,
        ...data.reminders,
        "I have done nothing. Say “do it anyway”, and it is done all the same. Shall I do it anyway?",
      ]
        .filter((line) => line !== "")
        .join("\n");
    case "which_one":
      return ["Which one do you mean?", ...data.candidates.map((line) => `- ${line}`)].join("\n");
    case "not_found":
      return "I find nothing like that. Which one do you mean?";
    case "already_done":
      return `That is done already: ${data.shown}.`;
    default:
      return agreed === undefined ? listed(output) : `Done: ${agreed}.`;
  }
}

function listed(output: JsonValue): string {
  const items = itemsIn(output);
  if (Array.isArray(output) && items.length === 0) return "I find nothing.";
  return items.length === 0 ? `Done: ${lineOf(output as JsonObject)}.` : items.map((item) => `- ${lineOf(item)}`).join("\n");
}

function itemsIn(output: JsonValue): readonly JsonObject[] {
  const list = Array.isArray(output) ? output : Object.values((output ?? {}) as JsonObject).find(Array.isArray);
  return (list ?? []).filter((item): item is JsonObject => typeof item === "object" && item !== null && !Array.isArray(item));
}

/** The words and numbers of an item, and what stands against it. */
function lineOf(item: JsonObject | JsonValue): string {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return String(item);
  const plain = Object.entries(item).flatMap(([name, value]) => (name !== "id" && isPlain(value) ? [String(value)] : []));
  const against = namesIn(item.breaks).map((line) => `against: ${line}`);
  const unknown = namesIn(item.not_stated).map((line) => `not known: ${line}`);
  const perhaps = namesIn(item.if_along).map((line) => `if they come along: ${line}`);
  return [...plain, ...against, ...unknown, ...perhaps].join(" · ");
}

function isPlain(value: JsonValue | undefined): boolean {
  return typeof value === "string" || typeof value === "number";
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
