import { z } from "zod";
import { type Memory, STATED_TYPES } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";

/** Reading what a message says of its author: a language model's work. What it proposes is checked by code (memories/checks/). */

/** How something was meant. Only what is `stated` becomes a memory by itself. */
export const STANCES = ["stated", "unsure", "hypothetical", "reported", "joking", "pasted", "instruction"] as const;
export type Stance = (typeof STANCES)[number];

export const PROPOSED_OPS = ["add", "supersede", "end", "confirm", "forget"] as const;

/** One proposal, as it is once it could be read. `quote` are words of the user's message. */
export const proposedOperationSchema = z.object({
  op: z.enum(PROPOSED_OPS),
  quote: z.string(),
  /** The id of the known memory that it is about; null for an `add`, and for a `forget` of all about the subject or the thing. */
  target_id: z.string().nullable().default(null),
  /** Third person without a subject, in the message's language: "Is allergic to nuts". Empty for `end`, `confirm`, `forget`. */
  text: z.string().default(""),
  /** The words of the message that name the thing itself. */
  about: z.string().default(""),
  category: z.string().default("other"),
  aspect: z.string().default(""),
  condition: z.string().default(""),
  /** One of the domain's needs, or `other`; null for what is no need. */
  need: z.string().nullable().default(null),
  /** Default: the category's. */
  type: z.enum(STATED_TYPES).nullable().default(null),
  strength: z.enum(["hard", "soft"]).default("soft"),
  /** `self` or `companion:<relation or name>`. */
  subject: z.string().default("self"),
  scope: z.enum(["standing", "trip"]).default("standing"),
  /** ISO 8601 dates; null where none was said. */
  valid_from: z.string().nullable().default(null),
  valid_until: z.string().nullable().default(null),
  stance: z.enum(STANCES).default("stated"),
  confidence: z.number().min(0).max(1).default(1),
  /** False for what is only suggested by what the guest does. */
  explicit: z.boolean().default(true),
  entities: z.array(z.string()).default([]),
  tags: z.array(z.string()).default([]),
});
export type ProposedOperation = z.infer<typeof proposedOperationSchema>;

export interface Reading {
  readonly operations: readonly ProposedOperation[];
  /** The guest asked that this message, or the one before it, is not kept. */
  readonly off_record: "this" | "previous" | null;
  /** Proposals that could not be read. */
  readonly unreadable: number;
  /**
   * Where the message tells of needs that they are over, or that nobody has them, by its characters: about those nobody is asked. Default:
   * nowhere.
   */
  readonly over?: readonly { readonly start: number; readonly end: number }[];
}

/** Reads one user message. What it throws is a failure of the turn's write-back, which is tried again. */
export interface MessageReader {
  /** Goes into the log: the model's name, or that of the stand-in. */
  readonly name: string;
  read(input: MessageToRead, options: { readonly signal: AbortSignal }): Promise<Reading>;
  /** What is wrong with it, in plain words; null where nothing is. Default: nothing is. */
  problem?(): string | null;
  /**
   * Several messages of one user by one call, oldest first. Readings come in their order; null: of this one the call told nothing that can
   * be used, it has yet to be read. Absent where each message takes a call, or none: nothing is gained by leaving one for later.
   */
  readTogether?(inputs: readonly MessageToRead[], options: { readonly signal: AbortSignal }): Promise<readonly (Reading | null)[]>;
  /**
   * A message once more, for needs alone that its words name and its reading says nothing of. Called at most once for a message. Absent
   * where a second look finds no more than the first.
   */
  readNeeds?(input: MessageToRead, needs: readonly string[], options: { readonly signal: AbortSignal }): Promise<NeedsReading>;
}

export interface NeedsReading extends Reading {
  /** Of the needs asked for, those of which the message says that nobody in the party has them. */
  readonly nobodys: readonly string[];
}

export interface MessageToRead {
  readonly owner: Owner;
  readonly session_id: string;
  readonly turn: number;
  readonly message_id: string;
  /** The user's own message, whole: the only text that a memory may come from. */
  readonly text: string;
  readonly stated_at: Date;
  /** IANA name. */
  readonly time_zone: string;
  /** What was said before, oldest first, at most three rounds: for references ("that one") and questions that are answered. */
  readonly context: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  /** All hard and all waiting memories, those of the message's companions, the nearest and what is like them; at most 40. */
  readonly known: readonly Memory[];
  /**
   * Answers that may still be asked for, as those before could not be read; whoever has one that can't counts it off. What is lost behind a
   * reading, to a store that is away, is read again at no count. Default: two are left.
   */
  readonly calls?: CallsLeft;
  /** Work of other kinds that is due, and may be done by the call that reads this. Default: none. */
  readonly also?: AlsoDue;
}

/** Work that a call which reads a message can do beside it, so that it needs none of its own. */
export interface AlsoAsked {
  readonly task: "title" | "summary";
  /** Instructions. */
  readonly how: string;
  /** What it is made of: data. */
  readonly of: string;
  readonly maxOutputTokens: number;
}

export interface AlsoDue {
  readonly asked: readonly AlsoAsked[];
  /** Told what a call gave for one of them. What is not done has a call of its own. */
  readonly answered: (asked: AlsoAsked, text: string) => void;
}

/** Answers of a model that reading one message may cost, ever: the first, and a second look at it or one repair. */
export const CALLS_A_MESSAGE = 2;

export interface CallsLeft {
  left: number;
  /** Keeps what is left, durably. Default: it is known to this process alone. */
  readonly keep?: (left: number) => Promise<void>;
}

/** What the reading of messages has cost so far, for all processes: of those alone that a model has read in vain. */
export interface ReadingCalls {
  /** Answers that may still be asked for; null where none was in vain. @throws STORAGE_UNAVAILABLE */
  left(messageId: string): Promise<number | null>;
  /** Durable on resolve. @throws STORAGE_UNAVAILABLE */
  keep(messageId: string, left: number): Promise<void>;
  /** It is read, or given up. */
  forget(messageId: string): Promise<void>;
}
