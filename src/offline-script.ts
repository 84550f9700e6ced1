import type { JsonValue } from "./session.js";

/**
 * How a domain plays without a model: a pure function from what a model would read to what it would do next.
 * The stand-in model (offline/) turns messages into a {@link ScriptView} and a {@link ScriptMove} into model output.
 */
export interface OfflineScript {
  /** Shown as part of the model's name. */
  readonly name: string;
  /** Called once for each model call. The same view gives the same move. */
  next(view: ScriptView): ScriptMove;
}

/** A memory as the prompt lists it: `- <text> (<category>, must hold)`. */
export interface MemoryLine {
  readonly text: string;
  /** The empty string where the line names none. */
  readonly category: string;
  readonly mustHold: boolean;
  /** `self`, or the companion's name. */
  readonly subject: string;
}

/** A tool call and what came back; `output` is the parsed JSON, or the text where it is none. */
export interface Observation {
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

export interface ScriptRound {
  readonly user: string;
  readonly observations: readonly Observation[];
  readonly assistant: string;
}

/** Nothing here that stands not in the messages or the tool list. */
export interface ScriptView {
  readonly message: string;
  readonly now: Date;
  /** IANA name; UTC where the messages name none. */
  readonly timeZone: string;
  /** Constraints and preferences, without doubles. */
  readonly memories: readonly MemoryLine[];
  /** The rolling summary; the empty string where there is none. */
  readonly summary: string;
  /** What was found in earlier conversations; the empty string where there is none. */
  readonly references: string;
  readonly pageContext: string;
  /** Oldest first. */
  readonly window: readonly ScriptRound[];
  /** Of this turn, in order. */
  readonly observations: readonly Observation[];
  /** Empty when no more tools may be called. */
  readonly tools: ReadonlySet<string>;
}

export interface ScriptCall {
  readonly name: string;
  readonly arguments: { readonly [key: string]: JsonValue };
}

export type ScriptMove = { readonly type: "call"; readonly calls: readonly ScriptCall[] } | { readonly type: "say"; readonly text: string };
