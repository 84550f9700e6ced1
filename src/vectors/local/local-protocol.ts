import type { ErrorCode } from "../../platform/errors.js";
import type { Method } from "./local-engine.js";

/** What goes between LocalQdrant and its thread. */
export interface LocalOptions {
  readonly path: string;
  readonly cacheBytes: number;
}

/** What a thread is started for: to answer calls, or to rewrite the file while another answers them. */
export type ThreadData = LocalOptions & ({ readonly task: "serve"; readonly tickets: Int32Array } | { readonly task: "compact" });

export interface Call {
  readonly id: number;
  readonly method: Method | "close";
  readonly collection: string;
  readonly args: unknown;
  /** Which of the thread's tickets is its own; null where the call can't be given up. */
  readonly ticket: number | null;
}

/** Calls that were made in one turn of the event loop, in their order: a message costs more than most of what it carries. */
export type CallMessage = readonly Call[];

/** What a call's ticket says. Whoever changes WAITING first wins: a call that was given up before it began is never done. */
export const TICKET = { WAITING: 0, STARTED: 1, GIVEN_UP: 2 } as const;

/** What became of a call; `given_up`: it was not begun. */
export type Answer =
  | { readonly type: "answer"; readonly id: number; readonly result: unknown }
  | { readonly type: "given_up"; readonly id: number }
  | { readonly type: "refusal"; readonly id: number; readonly status: number; readonly message: string; readonly damaged: boolean };

export type ThreadMessage =
  /** `damaged`: a page of the file is; calls that don't need it are answered. */
  | { readonly type: "ready"; readonly damaged: boolean }
  | { readonly type: "unopened"; readonly code: ErrorCode; readonly detail: string; readonly hint?: string }
  | { readonly type: "answers"; readonly answers: readonly Answer[] };
