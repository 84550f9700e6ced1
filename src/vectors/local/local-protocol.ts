import type { ErrorCode } from "../../platform/errors.js";
import type { Method } from "../requests/requests.js";

/** What goes between LocalQdrant and its thread. */
export interface LocalOptions {
  readonly path: string;
  readonly cacheBytes: number;
}

/** What a thread is started with. */
export type ThreadData = LocalOptions & { readonly tickets: Int32Array };

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

/** Calls that can be given up at a time; what is called beside them is waited for. */
const MOST = 16_384;

/** A number for each call that is under way, shared with the thread that answers it, by which a call is given up before it begins. */
export class Tickets {
  readonly shared = new Int32Array(new SharedArrayBuffer(MOST * Int32Array.BYTES_PER_ELEMENT));
  readonly #free: number[] = [];
  #used = 0;

  /** Null where all are taken. */
  take(): number | null {
    const ticket = this.#free.pop() ?? (this.#used < MOST ? this.#used++ : null);
    if (ticket !== null) Atomics.store(this.shared, ticket, TICKET.WAITING);
    return ticket;
  }

  /** Has the thread pass the call over, unless it has begun. */
  giveUp(ticket: number): void {
    Atomics.compareExchange(this.shared, ticket, TICKET.WAITING, TICKET.GIVEN_UP);
  }

  /** To be called when the thread has told what became of the call. */
  free(ticket: number): void {
    this.#free.push(ticket);
  }
}
