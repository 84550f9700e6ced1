/** Files looked at together when a whole directory is gone through: enough to keep a disk busy, few enough for any limit on open files. */
export const MAX_IN_PARALLEL = 8;

/** Calls `look` for each item, `most` at a time. Behind an error none is begun; rejects with the first when those under way have ended. */
export async function eachInParallel<T>(
  items: readonly T[],
  look: (item: T) => Promise<void>,
  most: number = MAX_IN_PARALLEL,
): Promise<void> {
  const next = items.values();
  const errors: unknown[] = [];
  await Promise.all(
    Array.from({ length: Math.min(most, items.length) }, async () => {
      for (const item of next) {
        if (errors.length > 0) return;
        await look(item).catch((error: unknown) => errors.push(error));
      }
    }),
  );
  if (errors.length > 0) throw errors[0];
}

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
