import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";

export class OpenStreams {
  readonly #limit: number;
  readonly #open = new Map<Owner, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a place; call what it returns when the stream has ended. @throws TOO_MANY_STREAMS */
  enter(owner: Owner): () => void {
    const open = this.#open.get(owner) ?? 0;
    if (open >= this.#limit) throw new AppError("TOO_MANY_STREAMS", { detail: `At most ${this.#limit} streams a user.` });
    this.#open.set(owner, open + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const still = (this.#open.get(owner) ?? 1) - 1;
      if (still > 0) this.#open.set(owner, still);
      else this.#open.delete(owner);
    };
  }
}

export interface HttpLimits {
  /** Streams that one user may have open. Default 8. */
  readonly streamsPerUser?: number;
  /** Bytes of events that wait for a slow reader. Default 65,536. */
  readonly streamBufferBytes?: number;
  /** Default 15,000. */
  readonly heartbeatMs?: number;
  /** A reader that takes nothing for this long has gone away. Default 30,000. */
  readonly stalledReaderMs?: number;
}

/**
 * Text chunks as a web stream, pulled as the reader takes them. The first chunk is fetched before this resolves, so that
 * what fails at once is an ordinary problem; what fails later breaks the stream off, never ends it as if it were whole.
 */
export async function textStream(chunks: AsyncIterable<string>): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next: IteratorResult<string> | null = await iterator.next();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const result = next ?? (await iterator.next());
        next = null;
        if (result.done) controller.close();
        else controller.enqueue(encoder.encode(result.value));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
