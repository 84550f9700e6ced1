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

/** Shorter ones cost more to pack than to send. */
const WORTH_PACKING = 32;

/**
 * The arguments of a call, with its dense vectors as they are sent to a thread: a packed one is copied as it lies, an array number by
 * number. Exact: the numbers stay as wide as they were.
 */
export function withPackedVectors(method: string, args: unknown): unknown {
  if (!isRecord(args)) return args;
  if (method === "query") {
    const { query, prefetch } = args;
    const packedPrefetch = Array.isArray(prefetch) ? prefetch.map((each) => (isRecord(each) ? packedAt(each, "query") : each)) : prefetch;
    return { ...args, ...("query" in args && { query: packed(query) }), ...("prefetch" in args && { prefetch: packedPrefetch }) };
  }
  if (method !== "upsert" || !Array.isArray(args.points)) return args;
  return { ...args, points: args.points.map((point) => (isRecord(point) ? packedPoint(point) : point)) };
}

function packedPoint(point: Record<string, unknown>): Record<string, unknown> {
  return isRecord(point.vector) ? { ...point, vector: packedAt(point.vector, "") } : packedAt(point, "vector");
}

function packedAt(record: Record<string, unknown>, key: string): Record<string, unknown> {
  return key in record ? { ...record, [key]: packed(record[key]) } : record;
}

/** What is no vector is left for whoever checks it. */
function packed(value: unknown): unknown {
  if (!Array.isArray(value) || value.length < WORTH_PACKING) return value;
  return value.every((each) => typeof each === "number") ? Float64Array.from(value) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
