import { Worker } from "node:worker_threads";
import { threadFromSource } from "./source-thread.js";
import type { Job, ModelFiles, TextKind, TextMessage, TextOptions, ThreadMessage } from "./thread-protocol.js";

/** After a thread that could not begin, or ended, before the next is tried. */
const AGAIN_AFTER_MS = 5_000;

/**
 * The model's thread as seen from outside. It has one text at a time: what somebody waits for to find something (`query`) comes before
 * what is to be found (`document`), that before what nobody waits for (`background`), and a text that was given up is never begun. A thread
 * that died is started anew.
 */
export class ModelWorker {
  readonly #files: ModelFiles;
  readonly #waiting: Readonly<Record<TextKind, Set<Job>>> = { query: new Set(), document: new Set(), background: new Set() };
  #worker: Worker | null = null;
  #isReady = false;
  #running: { readonly id: number; readonly job: Job } | null = null;
  #lastId = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  #failure: string | null = null;
  #begun: Promise<void> = Promise.resolve();

  constructor(files: ModelFiles) {
    this.#files = files;
  }

  /** Why the thread is not there; null while it is, or loads. */
  get failure(): string | null {
    return this.#failure;
  }

  /** True while a text is in the model that nobody waits for to find something, which a query would have to wait for. */
  get isHeldByDocument(): boolean {
    return this.#running?.job.kind === "document";
  }

  /** Begins to load the model, where that isn't done. Resolves when it is there, or can't be: see {@link failure}. */
  start(): Promise<void> {
    if (this.#worker === null) this.#begun = this.#begin();
    return this.#begun;
  }

  /** Rejects with the signal's reason when it is given up. */
  embed(text: string, { kind, signal }: TextOptions): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#worker === null && performance.now() - this.#endedAt < AGAIN_AFTER_MS) return reject(this.#unavailable());
      const free = () => signal?.removeEventListener("abort", giveUp);
      const giveUp = () => {
        this.#waiting[kind].delete(job);
        reject(signal?.reason);
        this.#next();
      };
      const job: Job = {
        text,
        kind,
        resolve: (vector) => {
          free();
          resolve(vector);
        },
        reject: (error) => {
          free();
          reject(error);
        },
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting[kind].add(job);
      void this.start();
      this.#next();
    });
  }

  /** What waits fails. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#ended(worker, "It was closed.");
    await worker?.terminate();
  }

  async #begin(): Promise<void> {
    try {
      this.#worker = newWorker(this.#files);
    } catch (error) {
      return this.#fail(messageOf(error));
    }
    const worker = this.#worker;
    this.#failure = null;
    await new Promise<void>((resolve) => {
      worker.on("message", (message: ThreadMessage) => {
        if (this.#worker !== worker) return;
        if (message.type === "ready") {
          this.#isReady = true;
          resolve();
        } else this.#settle(message);
        this.#next();
      });
      worker.on("error", (error) => {
        this.#ended(worker, messageOf(error));
        resolve();
      });
      worker.on("exit", () => {
        this.#ended(worker, "It ended.");
        resolve();
      });
    });
  }

  #settle(message: Exclude<ThreadMessage, { type: "ready" }>): void {
    if (this.#running?.id !== message.id) return;
    const { job } = this.#running;
    this.#running = null;
    if (message.type === "vector") job.resolve(message.vector);
    else job.reject(new Error(message.message));
  }

  #next(): void {
    const worker = this.#worker;
    if (worker === null) return;
    const { query, document, background } = this.#waiting;
    const [job] = query.size > 0 ? query : document.size > 0 ? document : background;
    // The process stays while the model loads and for texts that wait, and not for an idle thread.
    if (!this.#isReady || job !== undefined || this.#running !== null) worker.ref();
    else worker.unref();
    if (job === undefined || this.#running !== null || !this.#isReady) return;
    this.#waiting[job.kind].delete(job);
    this.#running = { id: ++this.#lastId, job };
    worker.postMessage({ id: this.#lastId, text: job.text } satisfies TextMessage);
  }

  #ended(worker: Worker | null, why: string): void {
    if (worker !== null && this.#worker === worker) this.#fail(why);
  }

  /** What waits fails. */
  #fail(why: string): void {
    this.#worker = null;
    this.#isReady = false;
    this.#endedAt = performance.now();
    this.#failure = why;
    const waiting = Object.values(this.#waiting);
    const jobs = [...waiting.flatMap((some) => [...some]), ...(this.#running === null ? [] : [this.#running.job])];
    this.#running = null;
    for (const some of waiting) some.clear();
    for (const job of jobs) job.reject(this.#unavailable());
  }

  #unavailable(): Error {
    return new Error(`The model's thread is not there. ${this.#failure ?? ""}`.trim());
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "It failed.";
}

function newWorker(workerData: ModelFiles): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./model-thread.js", import.meta.url), { workerData });
  return new Worker(threadFromSource(new URL("./model-thread.ts", import.meta.url)), { workerData, eval: true });
}
