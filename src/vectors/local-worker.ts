import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError } from "../errors.js";
import { VectorStoreError } from "../vectors.js";
import type { Method } from "./local-engine.js";
import { type CallMessage, type LocalOptions, type ThreadMessage, TICKET } from "./local-protocol.js";

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** LocalQdrant's thread as seen from outside. A thread that died (out of memory) is started anew by the next call. */
export class LocalThread {
  readonly #options: LocalOptions;
  readonly #onDamage: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #starting: Promise<Worker> | null = null;
  #lastId = 0;

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

  /** @throws VectorStoreError, ABORTED */
  async call(method: Method | "scrub" | "close", collection: string, args: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const worker = this.#worker ?? (await this.#running());
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    const id = ++this.#lastId;
    const ticket = signal === undefined ? null : new Int32Array(new SharedArrayBuffer(4));
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (ticket !== null) Atomics.compareExchange(ticket, 0, TICKET.WAITING, TICKET.GIVEN_UP);
        this.#settle(id)?.reject(new AppError("ABORTED", { cause: signal?.reason }));
      };
      const free = () => signal?.removeEventListener("abort", giveUp);
      this.#waiting.set(id, {
        resolve: (result) => {
          free();
          resolve(result);
        },
        reject: (error) => {
          free();
          reject(error);
        },
      });
      signal?.addEventListener("abort", giveUp, { once: true });
      // The process stays for calls that wait, and not for an idle thread.
      worker.ref();
      try {
        worker.postMessage({ id, method, collection, args, ticket } satisfies CallMessage);
      } catch (cause) {
        this.#settle(id)?.reject(new VectorStoreError(400, `The arguments of ${method} can't be sent.`, { cause }));
      }
    });
  }

  /** After what was called before. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    try {
      await this.call("close", "", undefined, undefined);
    } finally {
      this.#worker = null;
      await worker.terminate();
    }
  }

  #running(): Promise<Worker> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  #start(): Promise<Worker> {
    const worker = newWorker(this.#options);
    return new Promise((resolve, reject) => {
      worker.on("message", (message: ThreadMessage) => {
        if (message.type === "ready") {
          this.#worker = worker;
          if (message.damaged) this.#onDamage();
          worker.unref();
          resolve(worker);
        } else if (message.type === "unopened") {
          reject(new AppError(message.code, { detail: message.detail }));
        } else {
          const waiting = this.#settle(message.id);
          if (message.type === "answer") waiting?.resolve(message.result);
          else {
            if (message.damaged) this.#onDamage();
            waiting?.reject(new VectorStoreError(message.status, message.message));
          }
        }
      });
      const gone = (cause?: unknown) => {
        if (this.#worker === worker) this.#worker = null;
        const error = new VectorStoreError(503, "The local vector store's thread ended.", { cause });
        reject(error);
        for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error);
      };
      worker.on("error", gone);
      worker.on("exit", () => gone());
    });
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    return waiting;
  }
}

function newWorker(workerData: LocalOptions): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./local-thread.js", import.meta.url), { workerData });
  // From the TypeScript sources (tests, development): the thread needs a loader of its own, which runs before its first module.
  const required = createRequire(import.meta.url).resolve("tsx/esm/api");
  // What is found is the twin for require.
  const loader = pathToFileURL(required.replace(/\.cjs$/, ".mjs")).href;
  const entry = new URL("./local-thread.ts", import.meta.url).href;
  const start = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry)}); })`;
  return new Worker(start, { workerData, eval: true });
}
