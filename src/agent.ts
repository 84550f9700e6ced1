import type { z } from "zod";
import type { OfflineScript } from "./offline-script.js";
import type { Owner } from "./owner.js";
import type { Element, JsonValue, Round, Source, Step, Usage } from "./session.js";

/** Ports of the agent: the model that thinks, the tools that act, and the loop of both. */

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it: may be malformed. */
  readonly arguments: string;
}

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly tool_calls?: readonly ModelToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSpec[];
  /** Asks for JSON of this schema instead of prose. */
  readonly json?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
  readonly maxOutputTokens?: number;
}

export type ModelEvent =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "tool_call"; readonly call: ModelToolCall }
  /** Always last. `length`: the answer was cut. */
  | { readonly type: "end"; readonly reason: "stop" | "tool_calls" | "length"; readonly usage: Usage };

export interface ChatModel {
  readonly name: string;
  /** True for OfflineModel: a rule-based stand-in. */
  readonly standIn: boolean;
  /** Context window in tokens, where it is known. */
  readonly contextTokens?: number;
  /** Throws on the first `next` or later. @throws MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

export interface ToolContext {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly turn: number;
  /** The id of the call: together with session and turn it makes a write idempotent. */
  readonly callId: string;
  /** The user's own words in this turn, for confirmations: what a tool must not take from the model's arguments. */
  readonly userMessage: { readonly id: string; readonly content: string };
  readonly now: Date;
  /** IANA name. */
  readonly timeZone: string;
  readonly signal: AbortSignal;
  /**
   * What the turn may do with long-term memory. `read_only`: nothing of it may be kept ("don't remember this").
   * `off`: incognito, nothing is read either. Default `full`.
   */
  readonly memory?: "full" | "read_only" | "off";
  /** Messages that a search must not return: those in the window already, and those whose words were forgotten. Default: none. */
  readonly hiddenMessageIds?: ReadonlySet<string>;
  /** How many earlier messages the turn cites already ("Ref #1" …): further ones are numbered on. Default 0. */
  readonly references?: number;
}

export interface ToolResult {
  readonly output: JsonValue;
  readonly sources?: readonly Source[];
  readonly elements?: readonly Element[];
}

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodType<Input>;
  /** Default 10,000. */
  readonly timeoutMs?: number;
  /** How often it may run in one turn. Default 8. A call over it is answered with an observation. */
  readonly maxCallsPerTurn?: number;
  /** A throw becomes an observation for the model: an AppError's detail and hint, anything else without details. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** A tool of any input, as lists hold them. */
export type AnyTool = Omit<Tool<never>, "parameters"> & { readonly parameters: z.ZodType };

export interface AgentInput {
  readonly question: string;
  /** Oldest first; after the token budget. */
  readonly previous_conversation: readonly Round[];
  /** The empty string, or "User Context:" and a line for each memory. */
  readonly user_context: string;
  readonly page_context: string | null;
  /** All of the above and the prompt, assembled for a model: the stable prefix first, the user's message last. */
  readonly messages: readonly ModelMessage[];
}

export type AgentEvent = { readonly type: "token"; readonly delta: string } | { readonly type: "step"; readonly step: Step };

export interface AgentResult {
  /** Exactly the streamed tokens, joined. */
  readonly content: string;
  readonly steps: readonly Step[];
  readonly elements: readonly Element[];
  readonly sources: readonly Source[];
  readonly usage: Usage;
  readonly model: string;
  /** Milliseconds spent waiting for the model. */
  readonly modelMs: number;
}

export interface AgentRun {
  readonly context: Omit<ToolContext, "callId">;
  /** Awaited, so that a slow reader slows the model's stream down instead of filling memory. */
  readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
}

/** @throws MODEL_UNAVAILABLE, MODEL_TIMEOUT, ABORTED */
export interface Agent {
  readonly modelName: string;
  readonly standIn: boolean;
  run(input: AgentInput, run: AgentRun): Promise<AgentResult>;
}

/**
 * A product on top of Maitred: what the assistant is, and what it can do. The concierge is the example;
 * a company plugs in its own.
 */
export interface Domain {
  /** Becomes `agent_type` of its sessions. */
  readonly name: string;
  /** The system prompt: stable, without dates or user data. */
  readonly prompt: string;
  readonly tools: readonly AnyTool[];
  /** Plays the domain where no model is configured. Default: the stand-in says that it needs a model. */
  readonly offline?: OfflineScript;
  /** Puts an answer's elements in the order that fits its text. Pure. Default: as the tools gave them. */
  arrange?(answer: string, elements: readonly Element[]): readonly Element[];
  /** What the domain holds of a user, for export and erasure. */
  readonly records?: DomainRecords;
  close?(): Promise<void>;
}

export interface DomainRecords {
  /** The key under which an export lists them: "bookings". */
  readonly name: string;
  export(owner: Owner): AsyncIterable<JsonValue>;
  /** Takes an export's records back; those that are there already are passed over. */
  restore(owner: Owner, records: readonly JsonValue[]): Promise<number>;
  /** Deletes, or makes anonymous where the business must keep a record. */
  erase(owner: Owner): Promise<number>;
  residue(owner: Owner): Promise<number>;
}
