import { setImmediate } from "node:timers";
import { Worker } from "node:worker_threads";
import { orAbort } from "../../platform/bounded-signal.js";
import { compactInThread } from "../../platform/compaction.js";
import { AppError } from "../../platform/errors.js";
import { threadFromSource } from "../../platform/source-thread.js";
import { isDamage } from "../../platform/sqlite.js";
import { VectorStoreError } from "../../ports/vectors.js";
import type { Method } from "../requests/requests.js";
import type { Answer, Call, CallMessage, LocalOptions, ThreadData, ThreadMessage } from "./local-protocol.js";
import { Tickets } from "./local-protocol.js";

const READS: ReadonlySet<string> = new Set<Method>(["collectionExists", "getCollection", "query", "scroll", "retrieve", "count", "facet"]);

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A thread that answers, with what its calls share with it. */
interface Serving {
  readonly worker: Worker;
  readonly tickets: Tickets;
  /** Tickets of the calls of which the thread has not told yet, also where nobody waits any more. */
  readonly taken: Map<number, number>;
  /** Called, and sent with the next message. */
  unsent: Call[];
}

/** LocalQdrant's thread as seen from outside. A thread that died (out of memory) is started anew by the next call. */
export class LocalThread {
  readonly #options: LocalOptions;
  readonly #onDamage: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #serving: Serving | null = null;
  #starting: Promise<Serving> | null = null;
  #lastId = 0;
  /** Compactions that run or wait for one that runs, and the end of the last of them. */
  #compactions = 0;
  #compacted: Promise<void> = Promise.resolve();

  private constructor(options: LocalOptions, onDamage: () => void) {
    this.#options = options;
    this.#onDamage = onDamage;
  }

  /** `onDamage`: a page of the file was found damaged, at the opening or by a call. @throws STORAGE_UNAVAILABLE, STORAGE_DAMAGED */
  static async open(options: LocalOptions, onDamage: () => void): Promise<LocalThread> {
    const thread = new LocalThread(options, onDamage);
    await thread.#running();
    return thread;
  }

  /** Reads are answered while the file is rewritten; writes wait until it is. @throws VectorStoreError, ABORTED */
  async call(method: Method | "close", collection: string, args: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const waits = !READS.has(method);
    while (this.#serving === null || (waits && this.#compactions > 0)) {
      if (this.#serving === null) await this.#running();
      else await (signal === undefined ? this.#compacted : orAbort(this.#compacted, signal).catch(() => undefined));
      if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    }
    const serving = this.#serving;
    const id = ++this.#lastId;
    const ticket = signal === undefined ? null : serving.tickets.take();
    if (ticket !== null) serving.taken.set(id, ticket);
    const giveUp = () => {
      if (ticket !== null && serving.taken.has(id)) serving.tickets.giveUp(ticket);
      this.#settle(id)?.reject(new AppError("ABORTED", { cause: signal?.reason }));
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    const answer = new Promise<unknown>((resolve, reject) => {
      // The process stays for calls that wait, and not for an idle thread.
      if (this.#waiting.size === 0) serving.worker.ref();
      this.#waiting.set(id, { resolve, reject });
      if (serving.unsent.length === 0) setImmediate(() => this.#send(serving));
      serving.unsent.push({ id, method, collection, args, ticket });
    });
    return answer.finally(() => signal?.removeEventListener("abort", giveUp));
  }

  #send(serving: Serving): void {
    const calls: CallMessage = serving.unsent;
    serving.unsent = [];
    try {
      serving.worker.postMessage(calls);
    } catch {
      // One of them can't be sent; the others can.
      for (const call of calls) this.#sendAlone(serving, call);
    }
  }

  #sendAlone(serving: Serving, call: Call): void {
    try {
      serving.worker.postMessage([call] satisfies CallMessage);
    } catch (cause) {
      this.#told(serving, call.id)?.reject(new VectorStoreError(400, `The arguments of ${call.method} can't be sent.`, { cause }));
    }
  }

  /**
   * Rewrites the file in a thread of its own, after what was called before; one at a time. Resolves when it is done.
   * @throws VectorStoreError
   */
  compact(): Promise<void> {
    this.#compactions += 1;
    const compaction = this.#compacted.then(async () => {
      // A write that runs would be in its way: whatever was sent before is answered before this is.
      await this.call("collectionExists", "", undefined, undefined);
      await this.#rewrite();
    });
    this.#compacted = compaction
      .catch(() => undefined)
      .then(() => {
        this.#compactions -= 1;
      });
    return compaction;
  }

  async #rewrite(): Promise<void> {
    try {
      await compactInThread(this.#options.path);
    } catch (cause) {
      if (isDamage(cause)) this.#onDamage();
      throw new VectorStoreError(500, cause instanceof Error ? cause.message : "The file can't be rewritten.", { cause });
    }
  }

  /** After what was called before. */
  async close(): Promise<void> {
    const serving = this.#serving;
    if (serving === null) return;
    try {
      await this.call("close", "", undefined, undefined);
    } finally {
      this.#serving = null;
      await serving.worker.terminate();
    }
  }

  #running(): Promise<Serving> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  #start(): Promise<Serving> {
    const tickets = new Tickets();
    const worker = newWorker({ ...this.#options, tickets: tickets.shared });
    const serving: Serving = { worker, tickets, taken: new Map(), unsent: [] };
    return new Promise((resolve, reject) => {
      worker.on("message", (message: ThreadMessage) => {
        if (message.type === "ready") {
          this.#serving = serving;
          if (message.damaged) this.#onDamage();
          worker.unref();
          resolve(serving);
        } else if (message.type === "unopened") {
          const { code, detail, hint } = message;
          reject(new AppError(code, { detail, ...(hint !== undefined && { hint }) }));
        } else for (const answer of message.answers) this.#answered(serving, answer);
      });
      const gone = (cause?: unknown) => {
        if (this.#serving === serving) this.#serving = null;
        const error = new VectorStoreError(503, "The local vector store's thread ended.", { cause });
        reject(error);
        for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error);
      };
      worker.on("error", gone);
      worker.on("exit", () => gone());
    });
  }

  #answered(serving: Serving, answer: Answer): void {
    const waiting = this.#told(serving, answer.id);
    if (answer.type === "answer") waiting?.resolve(answer.result);
    else if (answer.type === "refusal") {
      if (answer.damaged) this.#onDamage();
      waiting?.reject(new VectorStoreError(answer.status, answer.message));
    }
  }

  /** The thread has no more to do with a call. */
  #told(serving: Serving, id: number): Waiting | undefined {
    const ticket = serving.taken.get(id);
    if (ticket !== undefined) serving.tickets.free(ticket);
    serving.taken.delete(id);
    return this.#settle(id);
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#serving?.worker.unref();
    return waiting;
  }
}

/** What is made and dropped in a call is little: more room for it would be filled all the same, before it is collected. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

function newWorker(workerData: ThreadData): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./local-thread.js", import.meta.url), { workerData, resourceLimits });
  const start = threadFromSource(new URL("./local-thread.ts", import.meta.url));
  return new Worker(start, { workerData, resourceLimits, eval: true });
}
