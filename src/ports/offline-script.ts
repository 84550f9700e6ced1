import type { JsonObject, JsonValue } from "../domain/session.js";

/**
 * How a domain plays without a model: a pure function from what a model would read to what it would do next.
 * The stand-in model turns messages into a {@link ScriptView} and a {@link ScriptMove} into model output.
 */
export interface OfflineScript {
  /** The words of the domain, for what reads messages without a model. Default: it knows none of its needs. */
  readonly words?: DomainWords;
  /** Shown as part of the model's name. */
  readonly name: string;
  /** Called once for each model call. The same view gives the same move. */
  next(view: ScriptView): ScriptMove;
}

/** What names a domain's needs, and what belongs to which of its categories. Words and short phrases, of any language. */
export interface DomainWords {
  readonly needs: readonly {
    /** One of the domain's needs, or `other`. */
    readonly need: string;
    readonly category: string;
    /** `avoid`: a substance or a thing that must not be ("allergic to …"). `be`: what somebody is, has or uses. */
    readonly kind: "avoid" | "be" | "limit";
    readonly words: readonly string[];
  }[];
  /** What a need comes from and may pass, by the need's name: a knee, for access without steps. Default: nothing. */
  readonly reasons?: Readonly<Record<string, readonly string[]>>;
  /** How a message begins that asks for something to be done, as the domain's tools give it. Default: nothing beside "book", "find". */
  readonly requests?: readonly string[];
  /** By the category's name. */
  readonly categories: Readonly<Record<string, readonly string[]>>;
}

/** What a message asks of the memory, found by words. */
export type MemoryCommand =
  /** `text`: what is to be remembered, as it was said. */
  | { readonly kind: "remember"; readonly text: string }
  /** "Forget that", of which nothing in the message says what it is. */
  | { readonly kind: "forget_that" }
  /** `what`: what the memory is about, as it was said. `whom`: the relation or name of somebody, all about whom is to be forgotten. */
  | { readonly kind: "forget"; readonly what: string; readonly whom?: string }
  | { readonly kind: "forget_all" }
  /** `whom`: the relation or name of somebody, of whom alone is asked. */
  | { readonly kind: "list"; readonly whom?: string }
  /** The message is answered, and nothing of it is kept. */
  | { readonly kind: "do_not_remember" }
  /** `what`: the empty string where the user only points: "that's not true any more". */
  | { readonly kind: "no_longer"; readonly what: string };

/** A memory that waits for the user's word. */
export interface WaitingLine {
  readonly id: string;
  readonly text: string;
  /** The guest asked that it not be kept: they are asked whether to, as it would have to hold. Default false. */
  readonly offRecord?: boolean;
  /** The answer before asked about it for the last time. Default false. */
  readonly askedEnough?: boolean;
}

/** A memory as the prompt lists it: `- <text> (<category>, must hold)`. */
export interface MemoryLine {
  readonly text: string;
  /** The empty string where the line names none. */
  readonly category: string;
  readonly mustHold: boolean;
  /** `self`, or the companion's name. */
  readonly subject: string;
  /** By which an answer that it shaped cites it: no user is shown it. Default: it has none. */
  readonly mark?: string;
}

/** A tool call and what came back; `output` is the parsed JSON, or the text where it is none. */
export interface Observation {
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
}

export interface ScriptRound {
  readonly user: string;
  /** The user's message where it tells something; empty where it asks the memory to forget, to show or to keep out. */
  readonly told: string;
  readonly observations: readonly Observation[];
  readonly assistant: string;
}

/** Nothing here that stands not in the messages or the tool list. */
export interface ScriptView {
  readonly message: string;
  /** What the message asks of the memory, in order; that nothing be kept comes first. */
  readonly commands: readonly MemoryCommand[];
  /** The message without the words that ask to keep it out of memory. */
  readonly request: string;
  /** What waits for the user's word. */
  readonly waiting: readonly WaitingLine[];
  readonly now: Date;
  /** IANA name; UTC where the messages name none. */
  readonly timeZone: string;
  /** Nothing is recalled and nothing kept. */
  readonly memoryIsOff: boolean;
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

/** How the stand-in comes to call a tool of a domain that has no script of its own. */
export interface OfflineCall {
  /** Words and short phrases of messages that call for it, of any language. */
  readonly words: readonly string[];
  /** Its arguments, made of a message; `companions`: who the message says comes along. Pure. Default: none. */
  input?(message: string, told: { readonly companions: readonly string[] }): JsonObject;
}

export interface ScriptCall {
  readonly name: string;
  readonly arguments: { readonly [key: string]: JsonValue };
}

export type ScriptMove = { readonly type: "call"; readonly calls: readonly ScriptCall[] } | { readonly type: "say"; readonly text: string };
