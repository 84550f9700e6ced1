import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { ChatModel } from "../ports/chat-model.js";
import type { MessageReader, MessageToRead, NeedsReading, Reading } from "../ports/extraction.js";

/** So many messages that a model can't read, and none that it could, show that it can't. */
const IN_VAIN = 3;
const NO_NEEDS: NeedsReading = { operations: [], off_record: null, unreadable: 0, nobodys: [] };

/** What is known of the model over restarts. */
type ReaderKept = Pick<ChatModel, "measured" | "readsMessages">;

interface Options {
  readonly signal: AbortSignal;
}

/**
 * A model that reads, and what reads in its place once it has shown that it can't, until it is measured anew. Where the other can't be had
 * either, the model is asked on.
 */
export class ReaderInPlace implements MessageReader {
  readonly #model: MessageReader;
  readonly #other: MessageReader;
  readonly #logger: Logger;
  readonly #kept: ReaderKept;
  #inVain = 0;
  #hasRead = false;
  #isOtherThere = true;

  constructor(model: MessageReader, other: MessageReader, logger: Logger, kept: ReaderKept = {}) {
    this.#model = model;
    this.#other = other;
    this.#logger = logger;
    this.#kept = kept;
  }

  get name(): string {
    return this.#isReplaced ? this.#other.name : this.#model.name;
  }

  problem(): string | null {
    if (this.#hasRead || (this.#inVain < IN_VAIN && this.#kept.measured?.().reads !== false)) return null;
    const instead = this.#isOtherThere ? "the stand-in reads in its place" : "nobody reads them: @maitred/offline is not installed";
    return `${this.#model.name} can't read messages (\`maitred doctor --model\`); ${instead}`;
  }

  async read(message: MessageToRead, options: Options): Promise<Reading> {
    if (this.#isReplaced) {
      try {
        return await this.#other.read(message, options);
      } catch (error) {
        options.signal.throwIfAborted();
        this.#isOtherThere = false;
        this.#logger.warn({ err: error }, "the stand-in can't read in the model's place");
      }
    }
    try {
      const reading = await this.#model.read(message, options);
      this.#read();
      return reading;
    } catch (error) {
      if (isAppError(error, "EXTRACTION_FAILED")) this.#failed();
      throw error;
    }
  }

  async readTogether(messages: readonly MessageToRead[], options: Options): Promise<readonly (Reading | null)[]> {
    if (!this.#isReplaced && this.#model.readTogether !== undefined) {
      const readings = await this.#model.readTogether(messages, options);
      this.#read();
      return readings;
    }
    const readings: Reading[] = [];
    for (const message of messages) readings.push(await this.read(message, options));
    return readings;
  }

  async readNeeds(message: MessageToRead, needs: readonly string[], options: Options): Promise<NeedsReading> {
    return this.#isReplaced ? NO_NEEDS : ((await this.#model.readNeeds?.(message, needs, options)) ?? NO_NEEDS);
  }

  get #isReplaced(): boolean {
    return this.#isOtherThere && this.problem() !== null;
  }

  #read(): void {
    this.#hasRead = true;
    if (this.#kept.measured?.().reads !== true) this.#kept.readsMessages?.(true);
  }

  #failed(): void {
    this.#inVain += 1;
    if (this.#inVain !== IN_VAIN || this.#hasRead) return;
    this.#kept.readsMessages?.(false);
    this.#logger.error({ reader: this.#model.name }, "the model can't read messages: the stand-in reads in its place, if it is installed");
  }
}
