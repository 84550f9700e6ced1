import type { JsonValue } from "../domain/session.js";
import type { ToolContext } from "./tool-context.js";

/** What a domain says of its tools and its catalogue, so that one gate stands in front of all that binds. */

/**
 * Whether something of the catalogue meets a need; of a need that is a limit, its number: what it costs, how far it is. `unknown`: the
 * catalogue doesn't say; the guest is told so before it is bound. `moot`: there is nothing in it that the need could be about.
 */
export type Stated = boolean | number | "unknown" | "moot";

/** What a tool acts on, and how the guest is shown it first. */
export interface Shown<Input = unknown, Item = unknown> {
  /** As a guest would call it: "appointment", "table". */
  readonly what: string;
  /** What the input means. None: the model is told to look it up; several: the guest is asked which. */
  items(input: Input, context: ToolContext): readonly Item[] | Promise<readonly Item[]>;
  /**
   * One line, as the guest is shown it: "Cleaning, Tuesday 10:00, €80". A yes is to just this: where it reads otherwise by then, or the
   * number of one of the domain's limits is worse (more of an `at_most`, less of an `at_least`, or not stated any more), it is shown anew.
   */
  show(item: Item, input: Input): string;
}

/**
 * What a tool binds. A call shows first what it would do, and does it in a later turn, when the guest's own words or the button agree to
 * just that: the same arguments, the same line, no worse numbers of the domain's limits, the same against it. In front of it stands the
 * gate: what must hold for everyone who comes is held against what the catalogue states, and what would be broken is only done on the
 * guest's word to do it all the same.
 */
export interface Binding<Input = unknown, Item = unknown> extends Shown<Input, Item> {
  /** Who comes along, as the model names them. Default: nobody. */
  for?(input: Input): readonly string[];
  /** How many come in all. Default: the guest and whom `for` names. */
  size?(input: Input): number;
  /** When it begins: a need that is over by then, or begins later, stands against nothing. Default: now. */
  startsAt?(item: Item): Date;
}

/** A tool that looks up what may be bound, or what is. */
export interface LookUp<Input = unknown> {
  /** Who comes along, as the model names them. Default: nobody. */
  for?(input: Input): readonly string[];
  /** It lists what is bound already: a need that this very message tells counts too. Default false. */
  readonly bound?: boolean;
  /**
   * Who comes to one of the items, as they were named when it was bound: their needs are held against it too. Default: nobody is known;
   * of what is bound, needs of whom the message names are told apart, as of somebody who may come.
   */
  with?(item: unknown): readonly string[];
}

/** What a look-up found, and where in its output each is told. */
export interface Found {
  readonly items: readonly unknown[];
  /** Adds to what is told of each: by their places in `items`. */
  told(more: readonly { readonly [name: string]: JsonValue }[]): JsonValue;
}
