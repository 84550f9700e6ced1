/** Items of one write, so that none takes long. */
const MAX_ITEMS = 200;
const MAX_CHARS = 1024 * 1024;

/** In order, in batches of a bounded number and size. */
export async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let chars = 0;
  for await (const item of items) {
    batch.push(item);
    chars += JSON.stringify(item).length;
    if (batch.length < MAX_ITEMS && chars < MAX_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
