import { isDeepStrictEqual } from "node:util";
import { type PartSource, partsOf } from "../domain/answer-part.js";
import type { Element, PlacedElements, ShownPart, Source, Step, Usage } from "../domain/session.js";
import { isAppError } from "../platform/errors.js";
import type { AgentInput, AgentRun, ModelMessage, ToolSpec } from "../ports/agent.js";
import type { TimedWork } from "../ports/tool-context.js";
import { Citations } from "./citations.js";

/** What a turn has gathered so far. */
export interface Progress {
  messages: ModelMessage[];
  /** Set once the context was halved: a model that still finds it too large gets no smaller one. */
  halved: boolean;
  readonly steps: Step[];
  readonly elements: Element[];
  readonly placed: PlacedElements[];
  /** Ids of memories that shaped what was done. */
  readonly shapedBy: Set<string>;
  readonly citations: Citations;
  readonly sources: Map<string, Source>;
  readonly used: Map<string, number>;
  /** What the model is offered: the agent's tools and the caller's. */
  readonly offered: readonly ToolSpec[];
  /** Calls of the caller's tools that have no result yet. */
  readonly waiting: string[];
  usage: Usage;
  /** Who answered last. */
  model: string;
  modelMs: number;
}

const NONE: ReadonlySet<string> = new Set();

/** At the beginning of a run. `specs`: the agent's own tools. */
export function progressOf(
  { messages, citable = [] }: AgentInput,
  { tools = [], without = NONE, done }: AgentRun,
  { specs, model }: { readonly specs: readonly ToolSpec[]; readonly model: string },
): Progress {
  const callers = new Set(tools.map(({ name }) => name));
  const used = new Map<string, number>();
  for (const { name } of done?.steps ?? []) used.set(name, (used.get(name) ?? 0) + 1);
  return {
    messages: [...messages],
    halved: false,
    steps: [...(done?.steps ?? [])],
    elements: [...(done?.elements ?? [])],
    placed: [{ after: 0, elements: (done?.elements ?? []).map(({ id }) => id) }].filter(({ elements }) => elements.length > 0),
    shapedBy: new Set(done?.used),
    citations: new Citations(citable),
    sources: new Map(done?.sources.map((source) => [`${source.type}:${source.id}`, source])),
    used,
    offered: [...specs.filter(({ name }) => !callers.has(name) && !without.has(name)), ...tools],
    waiting: [],
    usage: { input_tokens: 0, output_tokens: 0 },
    model,
    modelMs: 0,
  };
}

/** What two calls took together. */
export function addUsage(a: Usage, b: Usage): Usage {
  const cached =
    a.cached_tokens === undefined && b.cached_tokens === undefined ? undefined : (a.cached_tokens ?? 0) + (b.cached_tokens ?? 0);
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    ...(cached !== undefined && { cached_tokens: cached }),
    output_tokens: a.output_tokens + b.output_tokens,
  };
}

/** Of work that has ended now. */
export function workSince(startedMs: number, error?: unknown): Pick<TimedWork, "startedMs" | "endedMs" | "error"> {
  const code = isAppError(error) ? error.code : "INTERNAL";
  return { startedMs, endedMs: performance.now(), ...(error !== undefined && { error: code }) };
}

/** Each tool that was called, once. What went well exists, also where the caller no longer offers it. */
export function toolsUsed({ steps, offered }: Pick<Progress, "steps" | "offered">): readonly string[] {
  const known = new Set(offered.map(({ name }) => name));
  return [...new Set(steps.flatMap(({ name, error }) => (known.has(name) || error === null ? [name] : [])))];
}

/** A part that shows elements, and its place among the answer's parts, from 0. */
interface PlacedPart {
  readonly index: number;
  readonly part: ShownPart;
  readonly elements: readonly Element[];
}

/** Tells the parts of an answer that show elements as they become known: each once, and again where more came to it. */
export class PartEvents {
  readonly #onPart: (part: PlacedPart) => Promise<void>;
  readonly #told = new Map<number, ShownPart>();

  constructor(onPart: (part: PlacedPart) => Promise<void>) {
    this.#onPart = onPart;
  }

  /** `answer`: as far as it has come. */
  async tell(answer: Pick<PartSource, "content" | "placed"> & { readonly elements: readonly Element[] }): Promise<void> {
    const byId = new Map(answer.elements.map((element) => [element.id, element]));
    for (const [index, part] of partsOf({ content: answer.content, elements: answer.elements, placed: answer.placed }).entries()) {
      if (part.type === "text" || part.type === "question" || isDeepStrictEqual(this.#told.get(index), part)) continue;
      this.#told.set(index, part);
      await this.#onPart({ index, part, elements: part.elements.flatMap((id) => byId.get(id) ?? []) });
    }
  }
}
