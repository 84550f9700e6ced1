/** Files looked at together when a whole directory is gone through: enough to keep a disk busy, few enough for any limit on open files. */
export const MAX_IN_PARALLEL = 8;

/** Calls `look` for each item, some at a time. Rejects with the first error. */
export async function eachInParallel<T>(items: readonly T[], look: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  await Promise.all(
    Array.from({ length: MAX_IN_PARALLEL }, async () => {
      for (const item of next) await look(item);
    }),
  );
}
