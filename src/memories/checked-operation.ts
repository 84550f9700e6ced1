import type { Statement, WaitingReason } from "../domain/memory.js";
import type { AppError } from "../platform/errors.js";
import type { ProposedOperation } from "../ports/extraction.js";

/** Somebody or something, everything about which is to be forgotten. */
export interface AllAbout {
  /** `companion:<relation or name>`; `self` where it is nobody else. */
  readonly subject: string;
  /** The message's words for them, or for it; the empty string where it has none. */
  readonly thing: string;
}

/** A proposal that has passed the checks: what may happen, at once or after the guest's word. */
export interface CheckedOperation {
  readonly op: "add" | "supersede" | "end" | "confirm" | "forget";
  /** Its place in the reading; the memory's id is UUIDv5(owner, session, message, index), whenever it is carried out. */
  readonly index: number;
  /** The known memory that it is about; null for an `add`, and for a `forget` of all about somebody or something. */
  readonly target_id: string | null;
  /** Of a `forget` without a target: whatever is about these. */
  readonly all_about?: AllAbout;
  /** The message's own bytes. */
  readonly quote: string;
  /** What holds, for `add` and `supersede`; else null. */
  readonly statement: Statement | null;
  /**
   * Null: it takes effect at once. Else why it waits for the guest's word: an `add` is stored in `review`; a change leaves its target
   * as it is and waits there (`pending_change`).
   */
  readonly waits: WaitingReason | null;
  /** It stood in text that the guest brought along: it never stops a booking. */
  readonly brought_along: boolean;
}

/** A proposal that was dropped. */
export interface RefusedProposal {
  readonly op: CheckedOperation["op"];
  /** Where its quote stands in the message; null where nowhere, and for what must not be shown. */
  readonly quote_at: { readonly start: number; readonly end: number } | null;
  /** By code. */
  readonly reason: string;
}

/** What a message gives, checked. */
export interface CheckedReading {
  /** Who read it. */
  readonly reader: string;
  readonly operations: readonly CheckedOperation[];
  readonly off_record: "this" | "previous" | null;
  /** Proposals that were dropped, counted by code; never a text. */
  readonly dropped: Readonly<Record<string, number>>;
  /** The same proposals, each by itself. Default: it isn't told. */
  readonly refused?: readonly RefusedProposal[];
  /** The reader can't read it, and would not if it were asked again: why, and what the guest is asked about all the same. */
  readonly unread?: { readonly error: AppError; readonly asks: readonly ProposedOperation[] };
}
