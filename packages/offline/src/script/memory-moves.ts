import type { JsonValue, MemoryCommand, Observation, ScriptCall, ScriptMove, ScriptView } from "maitred";
import { z } from "zod";
import { relationOf } from "../reading/language.js";
import { contentWords, sharedPart } from "./content-words.js";
import type { Filing } from "./filing.js";
import * as replies from "./memory-replies.js";
import { callThen, failureOf, say } from "./moves.js";
import { ordinalIn } from "./ordinals.js";
import { says, wordSet } from "./phrases.js";
import { agreesToKeep, readReply } from "./reply.js";
import { question } from "./settle.js";

/** Commands about memory, as moves. */

/** In one message: as many calls as the tool takes in a turn. */
const MAX_FORGOTTEN = 5;
const MAX_YES_WORDS = 6;
const MAX_CHOICE_WORDS = 15;
const MAX_QUOTED_CHARS = 500;
/** Words that memories of quite different needs have in common. */
const OF_ANY_NEED = wordSet("of_any_need");

interface Parts {
  readonly filing: Filing;
  /** Names of the domain's needs, as they are read. */
  readonly needs: ReadonlySet<string>;
}

/** What the message asks of the memory; undefined where it asks nothing, or only that nothing of it be kept. */
export function memoryCommand(view: ScriptView, filing: Filing, needs: ReadonlySet<string>): ScriptMove | undefined {
  const [asked = confirmedForgetting(view)] = view.commands;
  const parts = { filing, needs };
  switch (asked?.kind) {
    case "list":
      if (isOff(view) && view.memories.length === 0) return say(replies.MEMORY_OFF);
      if (asked.whom !== undefined && isNobody(asked.whom, view)) return undefined;
      return view.tools.has("list_memories") || view.observations.length > 0
        ? callThen(view, LIST, (output) => replies.memoriesReply(output, view.memories, asked))
        : say(replies.memoriesReply(null, view.memories, asked));
    case "remember":
      return change(view, [filing.rememberCall(asked.text, quoteOf(asked.text, view.message))], parts);
    case "forget": {
      const things = view.commands.flatMap((command) => (command.kind === "forget" ? [command] : []));
      return change(
        view,
        things
          .slice(0, MAX_FORGOTTEN)
          .map(({ what, whom }) => ({ name: "forget", arguments: { what, ...(whom !== undefined && { whom }) } })),
        parts,
      );
    }
    case "forget_that":
      return asksElsewhere(view) ? undefined : callThen(view, LIST, (output) => pointedReply(output));
    case "forget_all":
      return change(view, [{ name: "forget", arguments: { what: "everything", everything: true } }], parts);
    case "no_longer": {
      // Where the guest only points, what was spoken of is in the message before.
      const what = asked.what || (view.window.at(-1)?.assistant ?? "").slice(0, MAX_QUOTED_CHARS);
      return what === ""
        ? say("What is no longer true? Tell me in a sentence.")
        : change(view, [{ name: "no_longer_true", arguments: { what } }], parts);
    }
    default:
      return undefined;
  }
}

/** A name that nothing is known of may be that of an event. */
function isNobody(whom: string, { observations }: ScriptView): boolean {
  const listed = observations.find(({ name }) => name === LIST.name);
  return relationOf(whom) === undefined && listed !== undefined && !replies.tellsOf(whom, listed.output);
}

const LIST: ScriptCall = { name: "list_memories", arguments: {} };
const MAX_LISTED = 10;
const listedSchema = z.looseObject({ memories: z.array(z.looseObject({ memory_id: z.string(), text: z.string() })) });

/** The answer before asked something that is none of the memory's: "forget that" is said to it. */
function asksElsewhere({ window }: ScriptView): boolean {
  const { assistant = "", observations = [] } = window.at(-1) ?? {};
  return assistant.trimEnd().endsWith("?") && observations.some(({ name }) => name !== LIST.name);
}

/** "Forget that" says nothing of what is meant: the guest is asked, whatever was listed before. */
function pointedReply(output: JsonValue): string {
  const memories = listedSchema.safeParse(output).data?.memories ?? [];
  return memories.length === 0 ? replies.memoriesReply(output, []) : replies.whichReply(memories.slice(0, MAX_LISTED));
}

/** What an answer to {@link pointedReply} is about. */
function openPointed({ observations, assistant }: Pick<ScriptView["window"][number], "observations" | "assistant">) {
  const listed = observations.find(({ name, output }) => name === LIST.name && assistant.startsWith(pointedReply(output)));
  const memories = listedSchema.safeParse(listed?.output).data?.memories.slice(0, MAX_LISTED) ?? [];
  return memories.length === 0
    ? undefined
    : { memories, chosen: (id: string): ScriptCall => ({ name: "forget", arguments: { memory_id: id } }) };
}

/** Without its tools there is no memory to ask. Where none may be called at all, nothing is told by that. */
export function isOff({ memoryIsOff, tools, observations }: ScriptView): boolean {
  if (memoryIsOff) return true;
  return tools.size > 0 && !tools.has("list_memories") && !observations.some(({ name }) => name === "list_memories");
}

/** A plain yes to whether everything is to be forgotten. */
function confirmedForgetting(view: ScriptView): MemoryCommand | undefined {
  const asked = view.window
    .at(-1)
    ?.observations.some(({ output }) => z.looseObject({ status: z.literal("ask_first") }).safeParse(output).success);
  const brief = view.message.trim().split(/\s+/).length <= MAX_YES_WORDS;
  return asked === true && brief && readReply(view.message).yes ? { kind: "forget_all" } : undefined;
}

const whichSchema = z.looseObject({
  input: z.looseObject({ what: z.string(), memory_id: z.undefined().optional() }),
  output: z.looseObject({
    status: z.literal("which_one"),
    memories: z.array(z.looseObject({ memory_id: z.string(), text: z.string(), category: z.string().default("") })),
  }),
});

/**
 * A change for which a tool gave memories that could be meant. Those that are merely near to the words are none: a yes to a memory that has
 * nothing to do with what was asked would take it away.
 */
function openChange(observation: Observation, filing: Filing) {
  const parsed = whichSchema.safeParse(observation).data;
  if (parsed === undefined) return undefined;
  const { input, output } = parsed;
  const chosen = (memory_id: string): ScriptCall => ({ name: observation.name, arguments: { what: input.what, memory_id } });
  const words = contentWords(input.what);
  const specific = words.filter((word) => !OF_ANY_NEED.has(word));
  const [wanted, kind] = [specific.length > 0 ? specific : words, filing.categoryIn(input.what)];
  // "Vegan" is no shellfish, though both are about food, and many things are what somebody is allergic to.
  const memories = output.memories.filter(
    ({ text, category }) => (filing.namesNeedOf(input.what, text) ?? category === kind) || sharedPart(wanted, text) > 0,
  );
  return { what: input.what, memories, chosen };
}

type Memories = readonly { readonly memory_id: string; readonly text: string }[];

/** The one memory that has most of the words, and at least half of them. */
function meantBy(words: string, memories: Memories): string | undefined {
  const wanted = contentWords(words);
  const scored = memories.map(({ memory_id, text }) => {
    const held = contentWords(text);
    return { memory_id, part: wanted.filter((word) => held.includes(word)).length / Math.max(1, wanted.length) };
  });
  const best = Math.max(0.5, ...scored.map(({ part }) => part));
  const [only, another] = scored.filter(({ part }) => part === best);
  return another === undefined ? only?.memory_id : undefined;
}

/** Makes the changes; where several memories could be meant and the words name one of them, that one. Then says what came of it. */
function change(view: ScriptView, calls: readonly ScriptCall[], parts: Parts): ScriptMove {
  const seen = view.observations.filter(({ name }) => calls.some((call) => call.name === name));
  if (seen.length === 0) {
    if (isOff(view)) return say(replies.MEMORY_OFF);
    const known = calls.filter(({ name }) => view.tools.has(name));
    return known.length === 0 ? say("I can't do that here.") : { type: "call", calls: known };
  }
  const named = seen.map((observation) => {
    const open = openChange(observation, parts.filing);
    const id = open && meantBy(open.what, open.memories);
    return { observation, call: id === undefined ? undefined : open?.chosen(id) };
  });
  const done = seen.some(({ input }) => z.looseObject({ memory_id: z.string() }).safeParse(input).success);
  const next = named.flatMap(({ call }) => call ?? []);
  if (next.length > 0 && !done && next.every(({ name }) => view.tools.has(name))) return { type: "call", calls: next };
  const told = named.filter(({ call }) => !done || call === undefined).map(({ observation }) => observation);
  return say(told.map((observation) => changeReply(observation, parts)).join("\n"));
}

/** What a forgetting named and asks about. */
const toForget = z.looseObject({
  status: z.literal("waits"),
  forgot: z.array(z.string()).default([]),
  waits: z.array(z.looseObject({ memory_id: z.string(), text: z.string().startsWith("Forget: ") })).min(1),
});

function changeReply(observation: Observation, { filing, needs }: Parts): string {
  const open = openChange(observation, filing);
  const asked = toForget.safeParse(observation.output).data;
  if (asked !== undefined) {
    const gone = asked.forgot.length > 0 ? [`I have forgotten: ${asked.forgot.join("; ")}.`] : [];
    return [...gone, ...asked.waits.map(({ memory_id, text }) => question({ id: memory_id, text }, needs))].join(" ");
  }
  return failureOf(observation) ?? (open === undefined ? replies.memoryChangeReply(observation.output) : replies.whichReply(open.memories));
}

/** What an answer to "which of these do you mean?" chooses; undefined where nothing was asked or the message is about something else. */
export function choice(view: ScriptView, filing: Filing): ScriptMove | undefined {
  const last = view.window.at(-1);
  const open = last?.observations.flatMap((observation) => openChange(observation, filing) ?? []).at(-1) ?? (last && openPointed(last));
  const words = view.message.trim().split(/\s+/).length;
  if (open === undefined || open.memories.length === 0 || words > MAX_CHOICE_WORDS || view.message.includes("?")) return undefined;
  const digit = /^\W*(\d{1,2})\W*$/.exec(view.message)?.[1];
  const place = digit === undefined ? ordinalIn(view.message) : Number(digit) - 1;
  if (agreesToKeep(view.message)) return say(replies.whichReply(open.memories));
  const reply = readReply(view.message);
  const only = reply.yes && open.memories.length === 1 ? 0 : place;
  const id = only === undefined ? meantBy(view.message, open.memories) : open.memories.at(only)?.memory_id;
  if (id !== undefined) return callThen(view, open.chosen(id), replies.memoryChangeReply);
  return says(view.message, "none") || (reply.no && words <= 4) ? leave(view, open.memories) : undefined;
}

const UNCHANGED = "Then I have changed nothing.";

/** None of those that were offered: what waited to be taken away for it doesn't wait any more. */
function leave(view: ScriptView, offered: Memories): ScriptMove {
  const waiting = view.waiting.filter(({ id }) => offered.some(({ memory_id }) => memory_id === id));
  if (waiting.length === 0 || !view.tools.has("settle_memory")) return say(UNCHANGED);
  const answers = waiting.map(({ id }) => ({ memory_id: id, answer: "no", quote: view.message.trim() }));
  return callThen(view, { name: "settle_memory", arguments: { answers } }, () => UNCHANGED);
}

/** The message's own bytes: a command is read with its apostrophes straightened. */
function quoteOf(text: string, message: string): string {
  const at = message.replace(/[\u2018\u2019\u02BC]/g, "'").indexOf(text);
  return at === -1 ? message : message.slice(at, at + text.length);
}
