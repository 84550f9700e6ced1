import { availableParallelism } from "node:os";
import { ModelWorker } from "./model-worker.js";
import type { ModelFiles, TextOptions } from "./thread-protocol.js";

/** On one core a second thread would only take from the first. */
const CORES_FOR_TWO = 2;
/** Without a query that would have had to wait, until the second thread gives its memory back. */
const SPARE_FOR_MS = 60_000;

interface Spare {
  readonly worker: ModelWorker;
  isWarm: boolean;
}

/**
 * The model's threads. One does everything, queries first; but a text that is in the model can't be put aside, and a long one takes as long
 * as some queries do. So the first query that finds a document there begins a second thread, which takes those that would have to wait
 * from when it has loaded, and ends when none came for a minute. For what is done in the background none is begun: it would take more of
 * the machine than the query waits.
 */
export class ModelThreads {
  readonly #files: ModelFiles;
  readonly #cores: number;
  readonly #main: ModelWorker;
  #spare: Spare | null = null;
  #ending: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param options.cores default: those of the machine that this process may use */
  constructor(files: ModelFiles, { cores = availableParallelism() }: { readonly cores?: number } = {}) {
    this.#files = files;
    this.#cores = cores;
    this.#main = new ModelWorker(files);
  }

  /** Why the first thread is not there; null while it is, or loads. */
  get failure(): string | null {
    return this.#main.failure;
  }

  /** As {@link ModelWorker.start}, of the first thread. */
  start(): Promise<void> {
    return this.#main.start();
  }

  /** Rejects with the signal's reason when it is given up. */
  async embed(text: string, options: TextOptions): Promise<Float32Array> {
    const { kind, signal } = options;
    const spare = kind === "query" && this.#main.isHeldByDocument && signal?.aborted !== true ? this.#spareForNow() : null;
    if (spare === null) return this.#main.embed(text, options);
    try {
      return await spare.embed(text, options);
    } catch (error) {
      if (signal?.aborted || this.#isClosed) throw error;
      return this.#main.embed(text, options);
    }
  }

  /** What waits fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#endSpare(), this.#main.close()]);
    this.#isClosed = false;
  }

  /** True while a second thread takes queries. */
  get areTwo(): boolean {
    return this.#spare?.isWarm === true && this.#spare.worker.failure === null;
  }

  /** The second thread, begun where it isn't there; null until it is warm, and where it could not be begun. */
  #spareForNow(): ModelWorker | null {
    if (this.#isClosed || this.#cores < CORES_FOR_TWO) return null;
    clearTimeout(this.#ending);
    this.#ending = setTimeout(() => void this.#endSpare(), SPARE_FOR_MS).unref();
    this.#spare ??= begun(this.#files);
    return this.areTwo ? this.#spare.worker : null;
  }

  async #endSpare(): Promise<void> {
    clearTimeout(this.#ending);
    const spare = this.#spare;
    this.#spare = null;
    await spare?.worker.close();
  }
}

function begun(files: ModelFiles): Spare {
  const spare: Spare = { worker: new ModelWorker(files), isWarm: false };
  // What it fails with is the thread's `failure`.
  void spare.worker.start().then(() => {
    spare.isWarm = spare.worker.failure === null;
  });
  return spare;
}
