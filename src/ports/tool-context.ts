import type { Owner } from "../domain/owner.js";
import type { RecalledMemory } from "../domain/session.js";
import type { TurnToRemember } from "./memories.js";

/** What a tool is told of the turn that calls it. */

/** Stands in {@link ToolContext.asked} when the guest was asked whether everything is to be forgotten. */
export const ASKED_EVERYTHING = "everything";

/** A piece of a turn's work: a call of a model, a tool, or the gate in front of one. Times as `performance.now()` tells them. */
export interface TimedWork {
  readonly name: string;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The code of what it failed with. */
  readonly error?: string;
}

export interface ToolContext {
  readonly owner: Owner;
  readonly sessionId: string;
  readonly turn: number;
  /** The id of the call: together with session and turn it makes a write idempotent. */
  readonly callId: string;
  /** The user's own words in this turn, for confirmations: what a tool must not take from the model's arguments. */
  readonly userMessage: { readonly id: string; readonly content: string };
  /** The user's own messages of the window, oldest first, without this turn's. Default: none. */
  readonly earlierMessages?: readonly string[];
  /** A token that a tool's earlier answer gave and whose button the user pressed in this turn: their own consent, without words. */
  readonly consent?: string;
  readonly now: Date;
  /** IANA name. */
  readonly timeZone: string;
  readonly signal: AbortSignal;
  /**
   * What the turn may do with long-term memory. `off`: incognito, nothing is read and nothing kept. Default `full`.
   */
  readonly memory?: "full" | "off";
  /**
   * What the answer before asked about, and this message may settle: ids of waiting memories, and {@link ASKED_EVERYTHING}. Set by the
   * server from its own records. Default: nothing.
   */
  readonly asked?: readonly string[];
  /** What the turn was given from long-term memory. Default: nothing. */
  readonly recalled?: readonly RecalledMemory[];
  /** What a tool needs to have this turn's message read and remembered. Absent where nothing may be. */
  readonly remembering?: { readonly channel: string; readonly context: TurnToRemember["context"]; readonly replaces?: readonly string[] };
  /** Messages that a search must not return: those in the window already, and those whose words were forgotten. Default: none. */
  readonly hiddenMessageIds?: ReadonlySet<string>;
  /** Memories of needs that a binding call breaks on the guest's word: ids. Set by the gate. Default: none. */
  readonly passedOver?: readonly string[];
  /** How many earlier messages the turn cites already ("Ref #1" …): further ones are numbered on. Default 0. */
  readonly references?: number;
  /** Told of each piece of the turn's work as it ends. Returns at once. Default: nobody is told. */
  readonly onTimed?: (work: TimedWork) => void;
}
