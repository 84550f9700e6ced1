import { AppError } from "../platform/errors.js";
import type { ReadableState } from "../ports/transfer.js";
import type { PartitionRead, ReadQuery, StoredEntry } from "../state/engine.js";

const FIRST_PAGE = 100;
const SMALLEST_PAGE = 8;
const LARGEST_PAGE = 500;
/** What a page is to hold, in characters: following pages are as long as those before suggest. */
const PAGE_CHARS = 2 * 1024 * 1024;
export const ALL = { from: "", to: "\u{10FFFF}" };

type PartitionHead = Pick<PartitionRead, "version" | "epoch" | "dueAtMs">;

/**
 * One partition, read in pages, in the order of its keys. Nobody else may write to it meanwhile.
 * @throws STORAGE_IN_USE where somebody did
 */
export class PartitionReader {
  readonly #state: Pick<ReadableState, "name" | "engine">;
  readonly #partition: string;
  #head: PartitionHead | null = null;

  constructor(state: Pick<ReadableState, "name" | "engine">, partition: string) {
    this.#state = state;
    this.#partition = partition;
  }

  /** As it was at the first look; its version as it is by the last write. @throws INTERNAL before the first look */
  get head(): PartitionHead {
    if (this.#head === null) throw new AppError("INTERNAL", { detail: "The partition was not read yet." });
    return this.#head;
  }

  /** Whoever reads has written to it: behind the key that was read last, nothing has changed. */
  wrote(version: number): void {
    this.#head = { ...this.head, version };
  }

  entries(signal: AbortSignal, range = ALL): AsyncGenerator<StoredEntry> {
    return pagedEntries((query) => this.#read(query, signal), range);
  }

  async #read(query: ReadQuery, signal: AbortSignal): Promise<PartitionRead> {
    signal.throwIfAborted();
    const read = await this.#state.engine.read(this.#partition, query, { signal });
    if (this.#head !== null && this.#head.version !== read.version) throw changedMeanwhile(this.#state, this.#partition);
    this.#head ??= { version: read.version, epoch: read.epoch, dueAtMs: read.dueAtMs };
    return read;
  }
}

/** In the order of keys, in pages that are each one look: of what is written meanwhile, what lies behind the last page is among them. */
export async function* pagedEntries(
  read: (query: ReadQuery) => Promise<Pick<PartitionRead, "ranges">>,
  range = ALL,
): AsyncGenerator<StoredEntry> {
  let { from } = range;
  for (let limit = FIRST_PAGE; ; ) {
    const [page = []] = (await read({ ranges: [{ from, to: range.to, limit }] })).ranges;
    let chars = 1;
    for (const entry of page) {
      chars += entry.key.length + entry.value.length;
      // A page begins with the last key of the one before.
      if (entry.key !== from) yield entry;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    from = last.key;
    limit = Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, Math.floor((PAGE_CHARS * page.length) / chars)));
  }
}

export function changedMeanwhile({ name }: Pick<ReadableState, "name">, partition: string): AppError {
  return new AppError("STORAGE_IN_USE", {
    detail: `Somebody else has written to ${name} while it was moved (partition ${partition}).`,
    hint: "Stop every server and command that uses it, and run this again.",
  });
}
