import type { z } from "zod";
import type { Category } from "../domain/categories.js";
import type { Owner } from "../domain/owner.js";
import type { RecallTable } from "../domain/recall-table.js";
import type { Element, JsonValue, PlacedElements, Round, ShownPart, Source, Step, Usage } from "../domain/session.js";
import type { Binding, Found, LookUp, Shown, Stated } from "./binding.js";
import type { ModelMessage, ToolSpec } from "./chat-model.js";
import type { NeedTalk } from "./need-talk.js";
import type { OfflineCall, OfflineScript } from "./offline-script.js";
import type { ToolContext } from "./tool-context.js";

/** Ports of the agent: the tools that act, and the loop of them and the model. */

export type { ChatModel, ModelEvent, ModelMessage, ModelRequest, ModelToolCall, ToolSpec } from "./chat-model.js";

export { ASKED_EVERYTHING, type ToolContext } from "./tool-context.js";

export interface ToolResult {
  readonly output: JsonValue;
  readonly sources?: readonly Source[];
  readonly elements?: readonly Element[];
  /** Ids of memories that shaped it: what it went by, marked or checked. Default: none did. */
  readonly used?: readonly string[];
  /** What a tool that looks up found, for the gate to mark. Not told to the model. */
  readonly found?: Found;
}

/** How long a call of a tool may take that says nothing else, in milliseconds. */
export const TOOL_TIMEOUT_MS = 10_000;

/**
 * How long a tool waits for what the guest has said to be in memory, in milliseconds: most models read a message in less. The rest of
 * {@link TOOL_TIMEOUT_MS} is its own; a tool that needs more for itself says so.
 */
export const WRITE_BACK_WAIT_MS = 5_000;

export interface Tool<Input = unknown> {
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  readonly parameters: z.ZodType<Input>;
  /** Milliseconds that a call may take. Default {@link TOOL_TIMEOUT_MS}: 10,000. */
  readonly timeoutMs?: number;
  /** How often it may run in one turn. Default 8. A call over it is answered with an observation. */
  readonly maxCallsPerTurn?: number;
  /** What later turns are told of an output: what they need to go on from it. Pure. Default: the whole output. */
  recap?(output: JsonValue): JsonValue;
  /** What it binds: the gate stands in front of it. Default: nothing. */
  readonly binds?: Binding<Input>;
  /** What it takes back, as a cancellation does: shown first like what binds; no need stands against it. Default: nothing. */
  readonly ends?: Shown<Input>;
  /** It looks up what may be bound or what is, and tells each with the needs that it breaks. Default: it doesn't. */
  readonly looksUp?: LookUp<Input>;
  /** How it is called where no model is connected and the domain has no script. Default: it isn't. */
  readonly offline?: OfflineCall;
  /** A throw becomes an observation for the model: an AppError's detail and hint, anything else without details. */
  run(input: Input, context: ToolContext): Promise<ToolResult>;
}

/** A tool of any input, as lists hold them. */
export type AnyTool = Omit<Tool<never>, "parameters"> & { readonly parameters: z.ZodType };

/** A call of a tool that is about to run: its arguments have passed the tool's schema. */
export interface ToolCall {
  readonly tool: string;
  /** As the tool's `run` is given it, in a copy: to change it changes nothing of the call. */
  readonly input: unknown;
  readonly context: ToolContext;
}

/**
 * What becomes of a call instead of running. `refuse`: it doesn't run, and the model is told why. `ask`: it doesn't run before the
 * user has approved just this call, tool and arguments; the text is the question. The answer shows it as an element of type `approval`
 * whose `token` the client sends back as `consent` when the user presses its button; the same call then runs.
 */
export type ToolVerdict = { readonly refuse: string } | { readonly ask: string };

/**
 * Looks at every call of a tool before it runs, the memory tools' too; nothing returned: it runs. Its time counts as the tool's. What it
 * throws keeps the call from running; the model is told an AppError's detail and hint, of anything else only that the tool failed.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is written without a return
export type BeforeTool = (call: ToolCall) => ToolVerdict | void | Promise<ToolVerdict | void>;

export interface AgentInput {
  readonly question: string;
  /** The last `SHORT_TERM_ROUNDS` completed rounds, oldest first: fewer only where there are, or where the token budget has no room. */
  readonly previous_conversation: readonly Round[];
  /** The empty string, or "User Context:" and a line for each memory. */
  readonly user_context: string;
  readonly page_context: string | null;
  /**
   * All of the above and the prompt, assembled for a model: the stable prefix first, the user's message last. Its rounds leave in blocks,
   * so that a provider's cache holds: at times some more than `previous_conversation`, or under a tight budget some fewer.
   */
  readonly messages: readonly ModelMessage[];
  /** Ids of the memories that `messages` mark, in the order of their marks: the answer may cite them. Default: none is marked. */
  readonly citable?: readonly string[];
}

export type AgentEvent =
  | { readonly type: "token"; readonly delta: string }
  /** The answer so far is `content`: what was streamed beyond it was thought. */
  | { readonly type: "retract"; readonly content: string }
  | { readonly type: "step"; readonly step: Step }
  /** See {@link AgentResult.placed}: part number `index` of the answer, from 0, is this one from now on; `elements`: those it shows. */
  | { readonly type: "part"; readonly index: number; readonly part: ShownPart; readonly elements: readonly Element[] };

export interface AgentResult {
  /** Exactly the streamed tokens, joined; after a `retract`, its content and the tokens since. */
  readonly content: string;
  /** With those of {@link AgentRun.done} first. */
  readonly steps: readonly Step[];
  /** Names of tools that were called, each once; a name that a model made up is none. Default: those of the steps. */
  readonly toolsUsed?: readonly string[];
  readonly elements: readonly Element[];
  /** Where in `content` the elements came. Default: after it. */
  readonly placed?: readonly PlacedElements[];
  /** Ids of memories that shaped the answer, each once. Default: none did. */
  readonly used?: readonly string[];
  readonly sources: readonly Source[];
  readonly usage: Usage;
  /** The model that answered: with a fallback, not always the one that was asked first. */
  readonly model: string;
  /** Absent: the answer is whole. `length`: cut at the model's limit; `content_filter`: cut by the provider. */
  readonly finish?: "length" | "content_filter";
  /** Milliseconds spent waiting for the model. */
  readonly modelMs: number;
  /** Ids of calls of the caller's tools: their steps have no output yet, and the run is to go on with it. Absent: none, it has answered. */
  readonly waiting?: readonly string[];
}

export interface AgentRun {
  readonly context: Omit<ToolContext, "callId">;
  /** When the turn must be over, as `performance.now()` tells it. Default: not bounded by it. */
  readonly deadline?: number;
  /**
   * Tools that the caller runs by itself: a call of one ends the run with `waiting`. One named as a tool of the agent's own stands in its
   * place. Default: none.
   */
  readonly tools?: readonly ToolSpec[];
  /** Names of the agent's own tools that this run does without: they are neither offered nor run. Default: none. */
  readonly without?: ReadonlySet<string>;
  /** What the turn did before it waited: these calls and their results stand at the end of the messages. Default: nothing. */
  readonly done?: Pick<AgentResult, "steps" | "elements" | "sources" | "used">;
  /** Awaited, so that a slow reader slows the model's stream down instead of filling memory. */
  readonly onEvent?: (event: AgentEvent) => void | Promise<void>;
}

/** @throws what a {@link ChatModel} throws */
export interface Agent {
  readonly modelName: string;
  readonly standIn: boolean;
  /** {@link ChatModel.takesImages}. Default: no images are taken. */
  takesImages?(): boolean;
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
  /**
   * What the domain remembers about its users, by category. Default: the deployment's (`MEMORY_CATEGORIES_FILE`), else a general table:
   * preference, budget, schedule, location, dietary, accessibility, companions, communication, other.
   */
  readonly categories?: readonly Category[];
  /**
   * What tells which memories a message calls for. Default: it is not told, and a turn is given what is like its message and what its user
   * is known for, beside what must hold.
   */
  readonly recall?: RecallTable;
  /** What may have to hold when something is booked: allergies, diets, access. Default: none but `other`. */
  readonly needs?: readonly Need[];
  /**
   * Categories whose soft statements are limits for a check of the domain's own ("my budget is 50"): held against what is booked, and asked
   * about once where it is over. Default: soft statements of a limit need alone: those that name it, and those of its category that speak
   * of it, by its name as category or aspect, or by one of its words.
   */
  readonly limits?: readonly string[];
  /**
   * Plain forms in which guests ask that what they say is not kept, in every language that the domain claims: "off the record", "don't
   * write this down". Of such a message nothing is kept but the names of the needs in it, which wait for the guest's word. A model may see
   * the wish in other words too. Default: the model alone does.
   */
  readonly offRecord?: readonly string[];
  /**
   * How guests speak of needs. What they told and a reader makes nothing of, they are asked about by the need's name. Default: any of a
   * need's words tells of it in a sentence that asks nothing.
   */
  readonly needTalk?: NeedTalk;
  /** Plays the domain where no model is configured. Default: its tools by their own words ({@link Tool.offline}). */
  readonly offline?: OfflineScript;
  /** Puts an answer's elements in the order that fits its text. Pure. Default: as the tools gave them. */
  arrange?(answer: string, elements: readonly Element[]): readonly Element[];
  /** What the domain holds of a user, for export and erasure. */
  readonly records?: DomainRecords;
  close?(): Promise<void>;
}

/** One thing that may have to hold. */
export interface Need {
  /** Stable and in snake case: `step_free`, `no_nuts`, `vegetarian`. */
  readonly name: string;
  /** One line for the model that reads messages. */
  readonly description: string;
  /**
   * Other names by which a model may give it: "wheelchair", "wheelchair access". Case, accents, hyphens and blanks don't matter. Not told
   * to the model. Default: none.
   */
  readonly spellings?: readonly string[];
  /**
   * Words and short phrases by which guests name it, of every language that the domain claims: "nüsse", "rollstuhl". What a model makes a
   * need of must be borne out by one of them, or by its text's own words; else the guest is asked. Default: none.
   */
  readonly words?: readonly string[];
  /**
   * What a person has one of: `diet`. Of needs of one slot a second takes the first one's place where the guest says so, and is asked about
   * otherwise; two never hold side by side in silence. Default: it excludes no other need.
   */
  readonly slot?: string;
  /** Needs that it holds in itself, `other` among them: who is vegan eats no fish. Default: none. */
  readonly holds?: readonly string[];
  /**
   * `avoid`: a thing that must not be ("allergic to …"). `be`: what somebody is, has or uses. `at_most`, `at_least`: a limit, by the number
   * in the guest's own words. Default: `avoid` for a name that begins with `no_`, else `be`.
   */
  readonly kind?: "avoid" | "be" | "at_most" | "at_least";
  /** The category of its memories. Default: the reader chooses. */
  readonly category?: string;
  /** Whether something of the domain's catalogue meets it. Pure. A throw counts as `unknown`. Default: `unknown`. */
  states?(item: unknown): Stated;
  /** Why something of the catalogue does not meet it, in a sentence for the guest. Pure. Default: that it doesn't, by the need's name. */
  because?(item: unknown): string;
}

/** Something that the product's own records say a user did. Becomes an episodic memory; three of one habit are asked about. */
export interface Happening {
  /** Stable: the same event is remembered once. */
  readonly id: string;
  /** Opaque; events are asked for behind it. */
  readonly cursor: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** "Booked 2 seats in the stalls for Nacht der Stimmen, 12 March". */
  readonly text: string;
  readonly category: string;
  readonly entities: readonly string[];
  /** The session that it was done in, or null. */
  readonly session_id: string | null;
  /** The id of the event that this one takes back (a cancellation), or null. */
  readonly takes_back: string | null;
  /** What doing this again and again amounts to: "Usually books 2 tickets". Same key, same habit. */
  readonly habits: readonly { readonly key: string; readonly text: string; readonly category: string; readonly aspect: string }[];
}

/** What becomes another user's. `sessions`: their ids then, by their ids before. */
export interface HandedOver {
  readonly ids: readonly string[];
  readonly sessions: ReadonlyMap<string, string>;
}

export interface DomainRecords {
  /** The key under which an export lists them: "bookings". */
  readonly name: string;
  export(owner: Owner): AsyncIterable<JsonValue>;
  /** What the user did, oldest first, behind a cursor. Default: nothing is reported. */
  happened?(owner: Owner, after: string | null): AsyncIterable<Happening>;
  /** Takes an export's records back; those that are there already are passed over. */
  restore(owner: Owner, records: readonly JsonValue[]): Promise<number>;
  /**
   * After a restore: which of an export's records are not the user's all the same, by their places in the list, and why, for the answer to
   * the import. Default: it tells of none.
   */
  leftOut?(owner: Owner, records: readonly JsonValue[]): Promise<readonly { readonly at: number; readonly detail: string }[]>;
  /**
   * Where two users turned out to be one: the ids of what is one user's, and how those become the other's, with the sessions that they were
   * made in (by old id). Safe to repeat. Default: what is exported of the one is restored for the other, and stays with both.
   */
  readonly handOver?: {
    ids(owner: Owner): Promise<readonly string[]>;
    run(from: Owner, to: Owner, what: HandedOver): Promise<void>;
  };
  /** Deletes, or makes anonymous where the business must keep a record. */
  erase(owner: Owner): Promise<number>;
  residue(owner: Owner): Promise<number>;
}
