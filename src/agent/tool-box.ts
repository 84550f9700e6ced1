import { z } from "zod";
import type { JsonValue } from "../domain/session.js";
import { approvalElement, hashOf } from "../gate/shown-calls.js";
import { orAbort } from "../platform/bounded-signal.js";
import { AppError, isAppError } from "../platform/errors.js";
import { parsedJson } from "../platform/json.js";
import type { Logger } from "../platform/logger.js";
import { nearestName } from "../platform/nearest-name.js";
import { cutText } from "../platform/rendering.js";
import {
  type AnyTool,
  type BeforeTool,
  type ModelToolCall,
  TOOL_TIMEOUT_MS,
  type ToolContext,
  type ToolResult,
  type ToolSpec,
} from "../ports/agent.js";
import { plainSchema, withoutNulls } from "./models/plain-schema.js";

const DEFAULT_MAX_CALLS = 8;

/** What came of one call. `content` is what the model is told. */
export interface Outcome {
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly error: string | null;
  readonly content: string;
  readonly result: ToolResult | null;
}

/** Offers tools to a model and runs what it asks for. Whatever the model writes, a call ends in an observation. */
export class ToolBox {
  readonly specs: readonly ToolSpec[];
  readonly #tools: ReadonlyMap<string, AnyTool>;
  readonly #maxOutputChars: number;
  readonly #logger: Logger;
  readonly #beforeTool: BeforeTool | undefined;

  constructor(options: {
    readonly tools: readonly AnyTool[];
    readonly maxOutputChars: number;
    readonly logger: Logger;
    /** Default: every call runs. */
    readonly beforeTool?: BeforeTool | undefined;
  }) {
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    if (this.#tools.size < options.tools.length)
      throw new AppError("INVALID_CONFIG", { detail: "Two tools of the agent have the same name." });
    this.specs = toolSpecs(options.tools);
    this.#maxOutputChars = options.maxOutputChars;
    this.#logger = options.logger;
    this.#beforeTool = options.beforeTool;
  }

  /**
   * `used`: how often the tool was called in this turn before; `without`: those that the turn does without, by default none. Never throws
   * but for an abort of the turn. @throws ABORTED
   */
  async run(call: ModelToolCall, used: number, context: ToolContext, without?: ReadonlySet<string>): Promise<Outcome> {
    const tool = this.#tools.get(call.name);
    if (tool === undefined || without?.has(call.name)) return failed(call.arguments, this.#noTool(call.name, without));
    const limit = tool.maxCallsPerTurn ?? DEFAULT_MAX_CALLS;
    if (used >= limit)
      return failed(call.arguments, `${tool.name} has run ${limit} times in this turn, which is its limit. Answer with what you have.`);
    const args = parseJson(call.arguments);
    if (args === undefined) return failed(call.arguments, "The arguments are not valid JSON. Send one JSON object.");
    const parsed = await tool.parameters.safeParseAsync(args);
    if (!parsed.success) return failed(args, `The arguments are not valid: ${this.#issues(tool, parsed.error)}`);
    return this.#execute(tool, args, parsed.data as never, context);
  }

  /** The outcome of a call that is not to run. */
  refuse(call: ModelToolCall, reason: string): Outcome {
    return failed(call.arguments, reason);
  }

  /** What is known of a call that somebody else runs: what it was called with. */
  handedOver(call: ModelToolCall): Outcome {
    return { input: parseJson(call.arguments) ?? call.arguments, output: null, error: null, content: "", result: null };
  }

  async #execute(tool: AnyTool, input: JsonValue, data: never, context: ToolContext): Promise<Outcome> {
    const timeout = AbortSignal.timeout(tool.timeoutMs ?? TOOL_TIMEOUT_MS);
    const signal = AbortSignal.any([context.signal, timeout]);
    try {
      const held = await abortable(() => this.#held(tool, input, data, { ...context, signal }), signal);
      if (held !== null && "refused" in held) return failed(input, held.refused);
      const result = held?.waiting ?? (await abortable(() => tool.run(data, { ...context, signal }), signal));
      const { output, content } = bounded(result.output, this.#maxOutputChars);
      return { input, output, error: null, content, result };
    } catch (error) {
      if (context.signal.aborted) throw new AppError("ABORTED", { cause: context.signal.reason });
      if (timeout.aborted) return failed(input, `${tool.name} took too long and was stopped. Whether it had an effect is not known.`);
      if (isAppError(error)) return failed(input, `${error.message} ${error.hint}`.trim());
      this.#logger.error(
        { tool: tool.name, error: error instanceof Error ? error.name : typeof error, at: placeOf(error) },
        "a tool failed",
      );
      return failed(input, `${tool.name} failed.`);
    }
  }

  async #held(tool: AnyTool, args: JsonValue, input: unknown, context: ToolContext): Promise<Held | null> {
    return this.#beforeTool ? heldBack(this.#beforeTool, { tool: tool.name, arguments: args, input }, context) : null;
  }

  #issues(tool: AnyTool, error: z.ZodError): string {
    const spec = this.specs.find(({ name }) => name === tool.name);
    return issuesOf(error, Object.keys(spec?.parameters.properties ?? {}));
  }

  #noTool(name: string, without?: ReadonlySet<string>): string {
    const names = [...this.#tools.keys()].filter((each) => without?.has(each) !== true);
    return `There is no tool "${name.slice(0, 64)}". There are: ${names.join(", ")}.`;
  }
}

/**
 * What a model is told of tools: schemas (draft 2020-12) of what it may send, plain. That an object takes no other arguments is not told,
 * to spend no tokens on what it sees: a call that has others learns it.
 */
export function toolSpecs(tools: readonly Pick<AnyTool, "name" | "description" | "parameters">[]): readonly ToolSpec[] {
  return tools.map(({ name, description, parameters }) => {
    const { additionalProperties, ...told } = z.toJSONSchema(parameters, { io: "input", unrepresentable: "any" });
    const others = additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties };
    return { name, description, parameters: plainSchema(withoutNulls({ ...told, ...others })) };
  });
}

/** Where it was thrown, without what it says: that may hold a guest's words. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { stack = "", message } = error;
  const frames = stack.slice(stack.indexOf(message) + message.length);
  return (frames.split("\n", 2)[1] ?? "unknown").trim().slice(0, MAX_PLACE_CHARS);
}

const MAX_PLACE_CHARS = 300;

function failed(input: JsonValue, error: string): Outcome {
  return { input, output: null, error, content: JSON.stringify({ error }), result: null };
}

const MAX_ISSUES = 5;

/** `known`: the arguments that there are. */
function issuesOf(error: z.ZodError, known: readonly string[]): string {
  const lines = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys" && issue.path.length === 0) return issue.keys.map((key) => unknownArgument(key, known));
    return [`${issue.path.length === 0 ? "" : `${issue.path.join(".")}: `}${issue.message}`];
  });
  return lines.slice(0, MAX_ISSUES).join("; ");
}

function unknownArgument(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  const instead = meant === undefined ? `there are: ${known.join(", ")}` : `did you mean "${meant}"?`;
  return `there is no argument "${name.slice(0, 64)}"; ${instead}`;
}

/** Models send the empty string where a tool takes no arguments. */
function parseJson(text: string): JsonValue | undefined {
  return text.trim() === "" ? {} : (parsedJson(text) as JsonValue | undefined);
}

function bounded(output: JsonValue, maxChars: number): { output: JsonValue; content: string } {
  const content = JSON.stringify(output);
  if (content.length <= maxChars) return { output, content };
  const cut = { truncated: true, characters: content.length, start: cutText(content, maxChars) };
  return { output: cut, content: JSON.stringify(cut) };
}

/** Settles when the signal aborts, also where the work pays no heed to it. */
async function abortable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return orAbort(work(), signal);
}

/** What a call waits for, or why it is not to run. */
type Held = { readonly refused: string } | { readonly waiting: ToolResult };

/** A call as the model made it (`arguments`), and as its tool is given it (`input`). */
interface HeldCall {
  readonly tool: string;
  readonly arguments: JsonValue;
  readonly input: unknown;
}

/** Asks the hook; null where the call may run: the hook says nothing, or the user approved just this call. */
async function heldBack(hook: BeforeTool, call: HeldCall, context: ToolContext): Promise<Held | null> {
  // A copy: what the hook keeps or changes is not what was checked, and not what runs.
  const verdict = await hook({ tool: call.tool, input: deepCopy(call.input), context });
  if (verdict === undefined) return null;
  if ("refuse" in verdict) return { refused: verdict.refuse };
  const token = hashOf(context.owner, context.sessionId, call.tool, call.arguments);
  if (context.consent === token) return null;
  const shown = approvalElement(token, { tool: call.tool, question: verdict.ask, input: call.arguments });
  const output = {
    needs_approval: verdict.ask,
    note: "It has not run. Ask the user; once they approve, call it again with the same input.",
  };
  return { waiting: { output, elements: [shown] } };
}

/**
 * The same value, of which nothing that can change is shared: objects, arrays, dates, maps and sets are made anew. What is of another
 * class, and a function, is given as it is. Not for values that hold themselves.
 */
function deepCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deepCopy);
  if (value instanceof Date) return new Date(value);
  if (value instanceof Set) return new Set([...value].map(deepCopy));
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [deepCopy(key), deepCopy(each)]));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, deepCopy(each)]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
