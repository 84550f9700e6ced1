/** In order, at most `count` at a time, of at most `size` together; what is larger by itself comes alone. Default: of any size. */
export function* batchesOf<T>(
  items: Iterable<T>,
  count: number,
  { size = Number.POSITIVE_INFINITY, sizeOf = () => 0 }: { readonly size?: number; readonly sizeOf?: (item: T) => number } = {},
): Generator<T[]> {
  let batch: T[] = [];
  let total = 0;
  for (const item of items) {
    const own = sizeOf(item);
    if (batch.length > 0 && (batch.length >= count || total + own > size)) {
      yield batch;
      batch = [];
      total = 0;
    }
    batch.push(item);
    total += own;
  }
  if (batch.length > 0) yield batch;
}
