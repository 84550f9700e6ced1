import { z } from "zod";
import type { Element, JsonObject } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { type AnyTool, TOOL_TIMEOUT_MS, type ToolContext, type ToolResult } from "../ports/agent.js";
import type { Binding, Found, LookUp, Shown } from "../ports/binding.js";
import type { ConstraintGate } from "./constraint-gate.js";
import { ANSWERABLE_TURNS, approvalElement, hashOf, type ShownCall, type ShownCalls, standsIn } from "./shown-calls.js";
import { candidateOf, numbersStated, type StatedParts, worseNumbers } from "./stated.js";
import { needLine, type Verdict, whyUnchecked } from "./verdict.js";

/** What the gate adds to a binding tool's arguments: how the guest answered what they were shown. */
const ANSWER = {
  agreed: "the guest's words in this message that agree to what they were shown; not when they hesitate",
  anyway: "only when they were told what stands against it: their words in this message to do it all the same",
} as const;
const MAX_WORDS_CHARS = 500;
/** What the gate may take beside the tool: it waits for what the guest has said to be in memory. */
const GATE_MS = 10_000;
const answerSchema = z.object({
  agreed: z.string().max(MAX_WORDS_CHARS).nullish(),
  anyway: z.string().max(MAX_WORDS_CHARS).nullish(),
});
type Answer = z.infer<typeof answerSchema>;

interface HeldParts extends StatedParts {
  readonly gate: ConstraintGate;
  readonly shown: ShownCalls;
}

/** A call with what it means: one thing of the catalogue. */
interface Meant {
  readonly input: JsonObject;
  readonly answer: { readonly [part in keyof Answer]: string | undefined };
  readonly item: unknown;
  readonly line: string;
  /** Stands for it: the session, the tool, its arguments, the line. */
  readonly call: string;
  /** What the catalogue states of the domain's limits: what it costs. Of what is taken back nothing. */
  readonly stated: ShownCall["stated"];
}

/**
 * A binding tool behind the gate: the first call shows, a later turn's does what was shown. What a model makes of it, nothing is done that
 * the guest has not seen and agreed to.
 * @throws INVALID_CONFIG where the tool has arguments of the names that the gate adds
 */
function heldTool(tool: AnyTool, acts: Shown, parts: HeldParts): AnyTool {
  return {
    ...tool,
    timeoutMs: (tool.timeoutMs ?? TOOL_TIMEOUT_MS) + GATE_MS,
    description: `${tool.description} ${HOW[tool.binds === undefined ? "ends" : "binds"]}`,
    parameters: withAnswer(tool),
    run: async (args: never, context) => {
      const { agreed, anyway, ...input } = args as JsonObject & Answer;
      const answer = { agreed: agreed ?? undefined, anyway: anyway ?? undefined };
      const items = await acts.items(input, context);
      if (items.length !== 1) return { output: whichOne(items, acts, input) };
      const line = acts.show(items[0], input);
      const call = hashOf(context.owner, context.sessionId, tool.name, input, line);
      const stated = tool.binds === undefined ? {} : numbersStated(items[0], parts);
      return new HeldCall(tool, parts, context, { input, answer, item: items[0], line, call, stated }).run();
    },
  };
}

const HOW = {
  binds: "The first call only shows it; once the guest, in a later message, agrees, call again with the same arguments and `agreed`.",
  ends: "The first call only shows what would be taken back; once the guest agrees in a later message, call again with `agreed`.",
};

/** None, or several. */
function whichOne(items: readonly unknown[], { what, show }: Shown, input: JsonObject): JsonObject {
  if (items.length === 0)
    return {
      status: "not_found",
      ask: `Nothing was done: no ${what} is meant by this. Look it up, and ask the guest which one they mean.`,
    };
  const candidates = items.slice(0, MOST_CANDIDATES).map((item) => show(item, input));
  return { status: "which_one", candidates, ask: `Nothing was done: ask the guest which ${what} they mean.` };
}

const MOST_CANDIDATES = 10;

class HeldCall {
  readonly #tool: AnyTool;
  readonly #parts: HeldParts;
  readonly #context: ToolContext;
  readonly #meant: Meant;

  constructor(tool: AnyTool, parts: HeldParts, context: ToolContext, meant: Meant) {
    this.#tool = tool;
    this.#parts = parts;
    this.#context = context;
    this.#meant = meant;
  }

  async run(): Promise<ToolResult> {
    const { owner, turn, userMessage, consent } = this.#context;
    const { answer, call, stated } = this.#meant;
    const before = await this.#parts.shown.find(owner, call);
    if (before?.done?.turn === turn) return this.#begunAlready(before.done.ended);
    // At a higher price it is another thing than was shown.
    const isSame = before !== null && worseNumbers(before.stated, stated, this.#parts.needs).length === 0;
    const isRecent = before !== null && before.turn < turn && before.turn >= turn - ANSWERABLE_TURNS;
    const seen = isSame && isRecent && before.done === null ? before : null;
    const pressed = seen !== null && consent === tokenOf(seen);
    const agrees = seen !== null && (pressed || [answer.agreed, answer.anyway].some((words) => standsIn(words, userMessage.content)));
    const verdict = await this.#judged();
    const against = verdict === null ? "" : againstOf(verdict);
    const fresh = verdict?.mentions.filter(({ id }) => seen?.mentioned.includes(id) !== true) ?? [];
    const overrides = against === "" || (seen?.against === against && (pressed || standsIn(answer.anyway, userMessage.content)));
    if (seen !== null && agrees && overrides && fresh.length === 0) return this.#done(seen, verdict);
    const refused = seen !== null && agrees && fresh.length === 0 ? refusal(seen.against, against) : null;
    return this.#show(before, verdict, against, refused);
  }

  async #judged(): Promise<Verdict | null> {
    const binds: Binding | undefined = this.#tool.binds;
    if (binds === undefined) return null;
    const { input, item, line } = this.#meant;
    const companions = binds.for?.(input) ?? [];
    // A need that this very message tells counts from the first.
    const judge = await this.#parts.gate.read(this.#context, { toBook: true, named: companions });
    const once = judge.people.once(companions);
    const size = binds.size?.(input);
    const { sessionId, earlierMessages = [], userMessage } = this.#context;
    const party = {
      companions: once,
      absent: [],
      size: size ?? once.length + 1,
      said: [...earlierMessages, userMessage.content],
      ...(size === undefined && { uncounted: userMessage.content }),
      sessionId,
    };
    return judge(candidateOf(item, line, binds.startsAt?.(item) ?? null, this.#parts), party);
  }

  async #done(seen: ShownCall, verdict: Verdict | null): Promise<ToolResult> {
    // Two calls of one turn: the second finds that it was taken.
    const { owner, turn } = this.#context;
    const { shown } = this.#parts;
    if (!(await shown.begin(owner, seen, turn))) return this.#begunAlready(false);
    const passedOver = verdict?.conflicts.map(({ memoryId }) => memoryId) ?? [];
    try {
      const result = await this.#tool.run(this.#meant.input as never, { ...this.#context, ...(passedOver.length > 0 && { passedOver }) });
      await shown.end(owner, seen, turn, true);
      if (verdict !== null) await this.#parts.gate.booked(this.#context, { tool: this.#tool.name, line: this.#meant.line, verdict });
      return { ...result, used: [...(result.used ?? []), ...(verdict?.checked ?? [])] };
    } catch (error) {
      await shown.end(owner, seen, turn, false);
      throw error;
    }
  }

  /** Where a process died in the middle of a turn, that turn's next attempt does not do it a second time. */
  #begunAlready(ended: boolean): ToolResult {
    const { line } = this.#meant;
    if (ended) return { output: { status: "already_done", shown: line } };
    return { output: { status: "not_known", shown: line, ask: "It was begun, and nobody saw it end: look up whether it is done." } };
  }

  async #show(before: ShownCall | null, verdict: Verdict | null, against: string, refused: string | null): Promise<ToolResult> {
    const { call, line, stated } = this.#meant;
    const { memory } = this.#context;
    const worse = before?.done === null ? worseNumbers(before.stated, stated, this.#parts.needs) : [];
    const shownLine = worse.length === 0 ? line : `${line} (${worse.join("; ")})`;
    const told = new Set(before?.mentioned ?? []);
    const reminders = verdict?.mentions.filter(({ id }) => !told.has(id)).map((mention) => mention.line) ?? [];
    const mentioned = [...new Set([...told, ...(verdict?.mentions.map(({ id }) => id) ?? [])])];
    const shown = { call, turn: this.#context.turn, against, mentioned, stated, done: null };
    await this.#parts.shown.put(this.#context.owner, shown);
    const conflicts = verdict?.conflicts.map(({ need, because, toConfirm }) => needLine(need, because, toConfirm)) ?? [];
    const output = {
      status: against === "" ? "shown" : "stopped",
      shown: shownLine,
      ...(verdict !== null && verdict.met.length > 0 && { needs_met: [...verdict.met] }),
      ...(conflicts.length > 0 && { conflicts }),
      ...(verdict?.unchecked === true && { unchecked: `${whyUnchecked(memory === "off", verdict.memoryOff)} ${ASK_FOR_NEEDS}` }),
      ...(reminders.length > 0 && { reminders }),
      ...(refused !== null && { refused }),
      ask: against === "" ? this.#ask() : "Nothing was done. Tell the guest what stands against it, and ask whether to do it all the same.",
    };
    return { output, elements: [this.#element(shown, shownLine, conflicts)], used: verdict?.checked ?? [] };
  }

  #ask(): string {
    const { binds, ends } = this.#tool;
    const asked = binds === undefined ? `take back this ${ends?.what}` : `go ahead with this ${binds.what}`;
    return `Nothing was done yet. Say the reminders, and ask the guest whether to ${asked}.`;
  }

  #element(shown: ShownCall, question: string, conflicts: readonly string[]): Element {
    return approvalElement(tokenOf(shown), { tool: this.#tool.name, question, conflicts, input: this.#meant.input });
  }
}

const ASK_FOR_NEEDS = "Ask what must hold for everyone who comes.";

function refusal(asked: string, against: string): string | null {
  if (against === "") return null;
  return asked === against
    ? "`agreed` passes over nothing: where the guest's words say to do it all the same, call again with `anyway`."
    : "Tell the guest first: only a later message of theirs can answer this.";
}

/** What stands against it. The empty string: nothing. */
function againstOf({ conflicts, unchecked }: Verdict): string {
  return conflicts.length === 0 && !unchecked ? "" : hashOf(conflicts.map(({ memoryId }) => memoryId).sort(), unchecked);
}

/** Of the button under what was shown: of another turn it is another. */
function tokenOf({ call, turn, against, mentioned, stated }: ShownCall): string {
  return hashOf(call, turn, against, mentioned, stated);
}

/** The tool's arguments, and beside them what the guest answered; each checked by its own schema. */
function withAnswer(tool: AnyTool): z.ZodType {
  const { $schema: _schema, properties, ...told } = z.toJSONSchema(tool.parameters, { io: "input", unrepresentable: "any" });
  const taken = Object.keys(ANSWER).find((name) => properties?.[name] !== undefined);
  if (taken !== undefined)
    throw new AppError("INVALID_CONFIG", { detail: `The tool ${tool.name} has an argument "${taken}": that name is the gate's.` });
  const answers = Object.entries(ANSWER).map(([name, description]) => [name, { type: "string", description }]);
  const check = z.transform(async (value: unknown, context) => {
    const { agreed, anyway, ...rest } = z.looseObject({}).parse(value ?? {});
    const [answer, input] = await Promise.all([answerSchema.safeParseAsync({ agreed, anyway }), tool.parameters.safeParseAsync(rest)]);
    for (const issue of [...(answer.error?.issues ?? []), ...(input.error?.issues ?? [])]) context.issues.push(issue as never);
    return { ...(input.data as object), ...answer.data };
  });
  return z
    .unknown()
    .meta({ ...told, properties: { ...properties, ...Object.fromEntries(answers) } })
    .pipe(check);
}

/** A domain's tools as an agent gets them: those that bind behind the gate, those that look up with its marks. @throws INVALID_CONFIG */
export function gatedTools(tools: readonly AnyTool[], parts: HeldParts): readonly AnyTool[] {
  return tools.map((tool) => {
    const acts = tool.binds ?? tool.ends;
    if (acts !== undefined) return heldTool(tool, acts, parts);
    return tool.looksUp === undefined ? tool : markedTool(tool, tool.looksUp, parts);
  });
}

/** A tool that looks up: each thing found is told with what it breaks of the needs of those who come, and what isn't stated of it. */
function markedTool(tool: AnyTool, looksUp: LookUp, parts: HeldParts): AnyTool {
  return {
    ...tool,
    run: async (input: never, context) => {
      const { found, ...result } = await tool.run(input, context);
      return found === undefined ? result : marked(result, found, { ...looksUp, named: looksUp.for?.(input) ?? [] }, parts, context);
    },
  };
}

async function marked(
  result: ToolResult,
  found: Found,
  { named, bound = false, with: with_ }: LookUp & { readonly named: readonly string[] },
  parts: HeldParts,
  context: ToolContext,
): Promise<ToolResult> {
  if (found.items.length === 0) return result;
  const { userMessage, sessionId, earlierMessages = [] } = context;
  const coming = found.items.map((item) => [...named, ...(with_?.(item) ?? [])]);
  const judge = await parts.gate.read(context, { toBook: bound, named: [...new Set(coming.flat())] });
  const said = [...earlierMessages, userMessage.content];
  const uncounted = bound && with_ === undefined ? { uncounted: userMessage.content } : {};
  const verdicts = found.items.map((item, at) => {
    const companions = judge.people.once(coming[at] ?? []);
    const party = { companions, absent: [], size: companions.length + 1, said, sessionId, ...uncounted };
    return judge(candidateOf(item, "this", null, parts), party);
  });
  const used = [...(result.used ?? []), ...verdicts.flatMap(({ checked }) => checked)];
  return { ...result, output: found.told(verdicts.map(markOf)), used };
}

/** In the words of the memories. What has neither is told as it is. */
function markOf({ conflicts, mentions }: Verdict) {
  const breaks = conflicts.map(({ need }) => need);
  const [not_stated, if_along] = [true, false].map((comes) =>
    mentions.flatMap(({ along, need }) => (along === comes && need !== undefined ? [need] : [])),
  ) as [string[], string[]];
  return {
    ...(breaks.length > 0 && { breaks }),
    ...(not_stated.length > 0 && { not_stated }),
    ...(if_along.length > 0 && { if_along }),
  };
}
