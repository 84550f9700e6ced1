import { eachInParallel } from "../platform/bounded-parallel.js";
import type { ReadableState } from "../ports/transfer.js";
import { isMoved } from "./portable-entries.js";

/** Of one look. */
const PAGE = 500;

/** Partitions that are moved, a page at a time: also those of erased owners. */
export async function* partitionsOf({ engine }: ReadableState, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  for (let after: string | undefined; ; ) {
    signal.throwIfAborted();
    const page = await engine.partitions({ limit: PAGE, ...(after !== undefined && { after }) });
    yield page.flatMap(({ partition }) => (isMoved(partition) ? [partition] : []));
    after = page.at(-1)?.partition;
    if (after === undefined || page.length < PAGE) return;
  }
}

/** Some at a time. Throws the first error once nothing works at any of them: the others are told to stop. */
export async function eachPartition(
  state: ReadableState,
  signal: AbortSignal,
  work: (partition: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  for await (const page of partitionsOf(state, signal)) await eachOf(page, signal, work);
}

/** As {@link eachPartition}, of these. */
export async function eachOf(
  partitions: readonly string[],
  signal: AbortSignal,
  work: (partition: string, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  await eachInParallel(partitions, async (partition) => {
    if (stop.signal.aborted) return;
    await work(partition, either).catch((error: unknown) => stop.abort(error));
  });
  stop.signal.throwIfAborted();
}
