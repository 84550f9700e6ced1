import type { ErrorCode } from "../../platform/errors.js";
import type { Method } from "./local-engine.js";

/** What goes between LocalQdrant and its thread. */
export interface LocalOptions {
  readonly path: string;
  readonly cacheBytes: number;
}

/** What a thread is started for: to answer calls, or to rewrite the file while another answers them. */
export type ThreadData = LocalOptions & { readonly task: "serve" | "compact" };

export interface CallMessage {
  readonly id: number;
  readonly method: Method | "close";
  readonly collection: string;
  readonly args: unknown;
  /** One number, a {@link TICKET}; absent where the call can't be given up. */
  readonly ticket: Int32Array | null;
}

/** Whoever changes WAITING first wins: a call that was given up before it began is never done. */
export const TICKET = { WAITING: 0, STARTED: 1, GIVEN_UP: 2 } as const;

export type ThreadMessage =
  /** `damaged`: a page of the file is; calls that don't need it are answered. */
  | { readonly type: "ready"; readonly damaged: boolean }
  | { readonly type: "unopened"; readonly code: ErrorCode; readonly detail: string; readonly hint?: string }
  | { readonly type: "answer"; readonly id: number; readonly result: unknown }
  | { readonly type: "refusal"; readonly id: number; readonly status: number; readonly message: string; readonly damaged: boolean };
